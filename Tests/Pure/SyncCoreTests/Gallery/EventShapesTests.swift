import Foundation
import SystemPackage
import Testing

@testable import SyncCore

/// Files of events in the shapes that apps and exports give them.
@Suite struct EventShapesTests {
    private static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0] + (0..<40).map { UInt8($0) }).base64EncodedString()
    private static let created = "\"createdAt\":1760948130"

    /// As the app encodes its enumeration of kinds of events.
    private static func nested(_ id: String, _ data: String) -> String {
        #"{"id":"\#(id)","profileId":"p","eventType":"taskResponse",\#(created),"eventData":\#(data)}"#
    }

    private static func flat(_ id: String?, _ more: String = "") -> String {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return #"{\#(id)"profileId":"p","eventType":"taskResponse",\#(created)\#(more)}"#
    }

    private func file(_ text: String, name: FilePath.Component? = nil) -> GalleryEventFile? {
        GalleryEventFile(Array(text.utf8), profile: nil, name: name)
    }

    private func photo(_ event: GalleryEvent?, in text: String) -> [UInt8]? {
        guard case .inline(let range)? = event?.photo else { return nil }
        return Base64Text(Array(text.utf8)[range]).decoded()
    }

    @Test(
        arguments: [
            #"{"taskResponse":{"_0":{"taskTitle":"Pills","photoData":"TWFu","textResponse":"dear diary"}}}"#,
            #"{"profileCreated":{"_0":{"photoData":"TWFu"}}}"#, #"{"taskResponse":{"photoData":"TWFu"}}"#,
            #"{"photoData":"TWFu","x":{"photoData":null}}"#, #"{"taskResponse":{"_0":{"photoData":"TWFu"},"_1":[]}}"#,
        ])
    func `a photo is found in the data of its event, wherever that has it`(data: String) throws {
        let text = "[\(Self.nested("e1", data))]"
        let found = try #require(file(text))
        #expect(found.malformed.isEmpty)
        #expect(photo(found.events.first, in: text) == Array("Man".utf8))
        #expect(found.events.first?.isBare == false)
    }

    @Test func `the only case of the data is the type where none is given, and stays when the text goes`() throws {
        let text = #"{"id":"e1","profileId":"p",\#(Self.created),"eventData":{"profileCreated":{"_0":{"name":"x"}}}}"#
        let found = try #require(file(text))
        #expect(found.events.map(\.type) == [.profileCreated])
        let rest = try #require(found.cut(Array(text.utf8), removing: [], reducing: [0]))
        #expect(
            String(decoding: rest, as: UTF8.self)
                == #"{"id":"e1","profileId":"p",\#(Self.created),"eventType":"profileCreated"}"#)
        #expect(GalleryEventFile(rest, profile: nil)?.events.first?.isBare == true)
    }

    @Test(
        arguments: [
            #","image":"\#(jpeg)""#, #","image":"\#(jpeg.replacing("/", with: "\\/"))""#,
            #","a":{"b":[{"c":"\#(jpeg)"}]}"#,
            #","image":"  \#(jpeg)""#, #","html":"<img src='DATA:image\/png;base64,iVBORw0KGgo='>""#,
            #","image":"ffd8ffe000104a46494600010100000100010000""#,
            #","image":"\u00ff\u00d8\u00ff\u00e0\u0000\u0010JFIF\u0000\u0001\u0001\u0000\u0000\u0001\u0000\u0001""#,
            #","image":{"type":"Buffer","data":[255,216,255,224,0,16,74,70,73,70,0,1,1,0,0,1,0,1,0,0]}"#,
            #","image":[-1,-40,-1,-32,0,16,74,70,73,70,0,1,1,0,0,1,0,1,0,0]"#,
            #","image":{"0":255,"1":216,"2":255,"3":224,"4":0,"5":16,"6":74,"7":70,"8":73,"9":70,"10":0,"11":1,"12":1,"13":0,"14":0,"15":1,"16":0,"17":1}"#,
            #","image":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ""#,
            #","image":"R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7""#,
            #","image":"UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQ=""#,
            #","image":"AAAAGGZ0eXBoZWljAAAAAGhlaWNtaWYxAAAAAA==""#, #","image":"SUkqAAgAAAAAAAAAAAAAAAAAAAAAAAAA""#,
            #","image":"Qk02AwAAAAAAADYAAAAoAAAAEAAAABAAAAABABgA""#,
            #","photoData":"TWFu","thumbnail":"\#(jpeg)""#,
        ])
    func `an image anywhere else than in the photo is refused, in whatever form`(member: String) throws {
        let found = try #require(file("[\(Self.flat("e1", member)),\(Self.flat("e2"))]"))
        #expect(found.events.map(\.id) == ["e2"])
        #expect(
            found.malformed == [
                MalformedEvent(
                    index: 0, reason: "holds an image elsewhere than in photoData; it is left as it is",
                    holdsPhoto: true)
            ])
    }

    @Test(
        arguments: [
            (before: #"img: "#, slash: "/"), (before: #"{\"img\": \""#, slash: #"\\/"#), (before: "", slash: "_"),
        ])
    func `encoded data anywhere in a text is taken for an image, whatever is around it and whatever it is`(
        before: String, slash: String
    ) throws {
        let data = (0..<120).map { "Zm9v\(slash)YmFy\(String(repeating: "QUJD", count: 12))\($0)" }.joined()
        let found = try #require(file("[\(Self.flat("e1", #","payload":"\#(before)\#(data)""#))]"))
        #expect(found.events.isEmpty)
        #expect(found.malformed.first?.holdsPhoto == true)
    }

    /// Bytes as they come out of a camera or a packer: no two runs of it are the same.
    private static let noise: [UInt8] = {
        var state: UInt32 = 7
        return (0..<600).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }()

    private static func groups(_ text: String, of length: Int, by gap: String) -> String {
        var (rest, groups) = (Substring(text), [Substring]())
        while !rest.isEmpty {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: gap)
    }

    private static let hex: [String] = noise.map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }

    private static let groupedData: [String] = {
        let (base64, packed) = (Data(noise).base64EncodedString(), Data([0x1F, 0x8B, 8] + noise))
        let numbers: [String] = noise.map { String($0) }
        var texts: [String] = [hex.joined(separator: " "), hex.joined(separator: ":").uppercased()]
        texts.append("its bytes " + hex.joined(separator: ", "))
        texts.append(hex.map { "0x" + $0 }.joined(separator: ", "))
        texts.append(hex.map { #"\\x"# + $0 }.joined())
        texts.append(hex.joined(separator: #"\n"#))
        texts.append(groups(hex.joined(), of: 33, by: "  "))
        texts.append(groups(base64, of: 4, by: " "))
        texts.append("here it is " + groups(base64, of: 10, by: " "))
        texts.append(groups(base64, of: 76, by: #"\r\n "#))
        texts.append(groups(packed.base64EncodedString(), of: 8, by: " "))
        texts.append(packed.prefix(33).base64EncodedString())
        texts.append(numbers.joined(separator: ", "))
        texts.append(numbers.joined(separator: " "))
        texts.append("50 4B 03 04 14 00 08 00 08 00 21 5A 6B 5A 00 00 00 00")
        texts.append("FF D8 FF E0 00 10 4A 46 49 46 00 01 01 00 00 01 00 01")
        return texts
    }()

    @Test(arguments: groupedData)
    func `data that is written in groups is data, whatever it is and whatever is between them`(text: String) throws {
        let found = try #require(file("[\(Self.flat("e1", #","x":"\#(text)""#)),\(Self.flat("e2"))]"))
        #expect(found.events.map(\.id) == ["e2"])
        #expect(found.malformed.first?.holdsPhoto == true)
    }

    @Test(
        arguments: [
            #","replies":[{"id":"c","eventType":"note","createdAt":"2026-11-20T00:00:00Z"}]"#,
            #","next":{"id":"c","eventType":"note","createdAt":"2026-11-20T00:00:00Z"}"#,
            #","data":{"history":[[{"id":"c","eventType":"note","createdAt":"2026-11-20T00:00:00Z"}]]}"#,
        ])
    func `an event within an event is not cut with it`(member: String) throws {
        let found = try #require(file("[\(Self.flat("e1", member)),\(Self.flat("e2"))]"))
        #expect(found.events.map(\.id) == ["e2"])
        #expect(
            found.malformed.map(\.reason) == [
                "holds another event, which has a time of its own; it is left as it is"
            ])
    }

    @Test(
        arguments: [
            #""text":"He said that the dear diary is nothing but words, and BM is no picture at all""#,
            #""token":"QmVhcmVyIHRoaXMgaXMgYSBsb25nIHRva2VuIG9mIG5vIHBpY3R1cmU=""#, #""n":[255,1,2,3],"m":[1.5,2e3]"#,
            #""url":"https://example.org/a.jpg?size=2000&name=9j/4AAQSkZJRg""#,
        ])
    func `what is only text is no image`(member: String) throws {
        #expect(try #require(file(Self.flat("e1", ",\(member)"))).events.count == 1)
    }

    private static let plainWords: [String] = {
        let story = "In the morning Grandma fed the cat and then we all went to the Lake near Osaka in 2 cars "
        let loud = "AT NOON WE ATE FISH AND iPhones WERE OUT OF REACH FOR MP3s SINCE 2024 "
        let calls: [String] = (10..<40).map { "2024-06-\($0) 10:\($0) Ana, " }
        let ids: [String] = (0..<5).map { "\($0)b2c1f6e-0d0c-4d52-9c57-0f6e4b6b7a10" }
        return [
            String(repeating: story, count: 20), String(repeating: loud, count: 20), calls.joined(),
            ids.joined(separator: ", "),
        ]
    }()

    @Test(arguments: plainWords)
    func `long words, dates and ids are no data`(text: String) throws {
        #expect(try #require(file(Self.flat("e1", #","text":"\#(text)""#))).events.count == 1)
    }

    @Test func `more than one photo is refused`() throws {
        let event = Self.nested("e1", #"{"taskResponse":{"_0":{"photoData":"TWFu"}},"photoData":"TWFv"}"#)
        let found = try #require(file("[\(event)]"))
        #expect(found.events.isEmpty)
        #expect(found.malformed.map(\.description) == ["#1 has more than one photo; it is left as it is"])
        #expect(found.malformed.map(\.holdsPhoto) == [true])
    }

    @Test(
        arguments: [
            (#"{"galleryEvents":[\#(flat("a")),\#(flat("b"))],"version":1}"#, ["a", "b"]),
            (#"{"a":\#(flat(nil)),"b\/c":1,"b":\#(flat("own"))}"#, ["a", "own"]),
            (#"{"users":{"u1":{"id":"u1","createdAt":1,"galleryEvents":{"a":\#(flat(nil))}}}}"#, ["a"]),
            (#"[{"galleryEvents":[\#(flat("a"))]},\#(flat("b"))]"#, ["a", "b"]),
            ("\(flat("a"))\n\(flat("b"))\r\n\n\(flat("c"))\n", ["a", "b", "c"]),
            (flat("a").replacing("1760948130", with: #"{"_seconds":1760948130,"_nanoseconds":250000000}"#), ["a"]),
            (flat("a").replacing("1760948130", with: #"{"seconds":1760948130,"nanoseconds":0}"#), ["a"]),
        ])
    func `events are found in what exports put around them`(text: String, ids: [String]) throws {
        let found = try #require(file(text))
        #expect(found.events.map(\.id) == ids)
        #expect(found.malformed.isEmpty)
        #expect(found.events.allSatisfy { Int($0.createdAt.timeIntervalSince1970) == 1_760_948_130 })
    }

    @Test func `the name of a file is the id of the one event in it`() throws {
        let event = try #require(file(Self.flat(nil), name: "E 1.json")?.events.first)
        #expect(event.id == "E 1")
        #expect(event.hasOuterID)
        #expect(file("[\(Self.flat(nil))]", name: "e1.json")?.malformed.map(\.reason) == ["id is missing"])
    }

    @Test(
        arguments: [
            (
                "{ \"galleryEvents\" : [ \(flat("a")) ,\(flat("b"))\n], \"v\":1 }", [0],
                "{ \"galleryEvents\" : [ \(flat("b"))\n], \"v\":1 }"
            ),
            (
                "{\"galleryEvents\":[\(flat("a")),\(flat("b"))]}", [0, 1], "{\"galleryEvents\":[]}"
            ),
            (
                "{ \"a\" : \(flat(nil)) ,\n \"v\": 1, \"b\":\(flat(nil)) }", [0], "{ \"v\": 1, \"b\":\(flat(nil)) }"
            ),
            ("{\"a\":\(flat(nil)), \"b\":\(flat(nil))}", [1], "{\"a\":\(flat(nil))}"),
            ("\(flat("a"))\r\n\(flat("b"))\n\n\(flat("c"))", [1], "\(flat("a"))\r\n\n\(flat("c"))"),
            ("\(flat("a"))\n\(flat("b"))\n", [1], "\(flat("a"))\n"),
        ] as [(String, [Int], String)])
    func `a file in any shape keeps all other bytes when elements go`(text: String, removed: [Int], expected: String)
        throws
    {
        let rest = try #require(file(text)).cut(Array(text.utf8), removing: Set(removed), reducing: [])
        #expect(rest.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: [
        "{\"a\":\(flat(nil)), \"b\":\(flat(nil))}", "\(flat("a"))\n\(flat("b"))\n", "[\(flat("a")),\(flat("b"))]",
    ])
    func `nothing is left of a file whose events all go`(text: String) throws {
        #expect(try #require(file(text)).cut(Array(text.utf8), removing: [0, 1], reducing: []) == nil)
    }

    @Test(arguments: [true, false], [true, false])
    func `UTF-16 is read, and written as it was`(isBigEndian: Bool, hasMark: Bool) throws {
        func utf16(_ text: String) -> [UInt8] {
            "\(hasMark ? "\u{FEFF}" : "")\(text)".utf16.flatMap { unit in
                let bytes = [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]
                return isBigEndian ? bytes : bytes.reversed()
            }
        }
        let (a, b) = (Self.flat("é 🌅", #","text":"ü""#), Self.flat("b"))
        let text = JSONFileText(utf16("[\(a), \(b)]"))
        let found = try #require(GalleryEventFile(text, profile: nil, name: nil))
        #expect(found.events.map(\.id) == ["é 🌅", "b"])
        let rest = try #require(found.cut(text.bytes, removing: [1], reducing: []))
        #expect(text.encoded(rest) == utf16("[\(a)]"))
        // Cut off in the middle of a character.
        let damaged = JSONFileText(utf16("[\(a), \(b)]") + [0x20])
        let refused = try #require(GalleryEventFile(damaged, profile: nil, name: nil))
        #expect(refused.events.isEmpty && refused.malformed.count == 1)
    }

    @Test func `a mark of UTF-8 stays`() throws {
        let bytes = [0xEF, 0xBB, 0xBF] + Array("[\(Self.flat("a")),\(Self.flat("b"))]".utf8)
        let text = JSONFileText(bytes)
        let found = try #require(GalleryEventFile(text, profile: nil, name: nil))
        let rest = try #require(found.cut(text.bytes, removing: [0], reducing: []))
        #expect(text.encoded(rest) == [0xEF, 0xBB, 0xBF] + Array("[\(Self.flat("b"))]".utf8))
    }
}
