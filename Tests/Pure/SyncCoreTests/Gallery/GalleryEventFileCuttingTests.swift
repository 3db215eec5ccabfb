import SyncCore
import Testing

@Suite struct GalleryEventFileCuttingTests {
    private static func event(_ id: String, _ more: String = "") -> String {
        #"{"id": "\#(id)", "profileId":"p", "eventType": "taskResponse" ,"createdAt":1700000000\#(more)}"#
    }

    private static let text = #", "text": "secret, \"quoted\" ]}", "taskTitle":"also secret""#

    private func cut(_ file: String, removing: Set<Int> = [], reducing: Set<Int> = []) throws -> String? {
        let bytes = Array(file.utf8)
        let events = try #require(GalleryEventFile(bytes, profile: nil))
        return events.cut(bytes, removing: removing, reducing: reducing).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `what stays is byte for byte as it was`() throws {
        let (a, b, c) = (Self.event("a", Self.text), Self.event("b", Self.text), Self.event("c"))
        let file = "\u{FEFF}[ \n\(a) ,\t\(b)\r\n,\(c)  ]\n"
        #expect(try cut(file, removing: [0]) == "\u{FEFF}[ \n\(b)\r\n,\(c)  ]\n")
        #expect(try cut(file, removing: [1]) == "\u{FEFF}[ \n\(a)\r\n,\(c)  ]\n")
        #expect(try cut(file, removing: [2]) == "\u{FEFF}[ \n\(a) ,\t\(b)  ]\n")
        #expect(try cut(file, removing: [0, 2]) == "\u{FEFF}[ \n\(b)  ]\n")
    }

    @Test func `an event without text keeps its five fields as they are written`() throws {
        let (a, b) = (Self.event("a", Self.text), Self.event("b", #","photoData":null"#))
        let bare = #"{"id": "a","profileId":"p","eventType": "taskResponse","createdAt":1700000000}"#
        #expect(try cut("[\(a), \(b)]", reducing: [0]) == "[\(bare), \(b)]")
        #expect(try cut("[\(b), \(a)]", removing: [0], reducing: [1]) == "[\(bare)]")
        #expect(try cut(" \(a)\n", reducing: [0]) == " \(bare)\n")
    }

    @Test func `nothing is left when all elements go, unless something is damaged`() throws {
        let (a, b) = (Self.event("a"), Self.event("b"))
        #expect(try cut("[\(a),\(b)]", removing: [0, 1]) == nil)
        #expect(try cut(a, removing: [0]) == nil)
        #expect(try cut("[\(a),{\"id\":", removing: [0]) == "[,{\"id\":")
        #expect(try cut("[\(a),17]", removing: [0]) == "[17]")
    }
}
