import FoundationEssentials

/// Files of gallery events of all kinds, the same for the same seed: good ones with photos in every form, 5 % malformed in
/// ten ways, 10 % replays in other files. What has to come of them is counted while they are made.
package struct GeneratedEvents: Sendable {
    package struct Expected: Hashable, Sendable {
        /// Different ids.
        package var events = 0
        /// Of them, with a photo; no two photos are equal.
        package var photos = 0
        package var malformed = 0
        package var replays = 0
    }

    /// By path, relative to the gallery.
    package private(set) var files: [(path: String, bytes: [UInt8])] = []
    /// With this every text begins.
    package static let mark = "secret "
    /// Every text that must stay on the machine.
    package private(set) var texts: [String] = []
    package private(set) var expected = Expected()

    private var noise: UInt64
    private let photo: [UInt8]
    private var beside: [String: [UInt8]] = [:]

    private struct Element {
        var text: String
        /// A photo that is a file beside the one that the element comes to stand in.
        var photo: (name: String, bytes: [UInt8])?
    }

    /// - Parameters:
    ///   - count: elements in all, malformed ones and replays included.
    ///   - photo: a JPEG, from which all photos are made by a comment of their own.
    package init(seed: UInt64, count: Int, photo: [UInt8]) {
        noise = seed
        self.photo = photo
        let (malformed, replays) = (count / 20, count / 10)
        var elements = (0..<count - malformed - replays).map { event($0) }
        let good = elements
        // A file that holds nothing but what is malformed need not look like events: they stand among good ones.
        for index in 0..<malformed {
            elements.insert(Element(text: bad(index)), at: 1 + next(below: elements.count - 1))
        }
        expected.malformed = malformed
        write(elements)
        expected.replays = replays
        for index in 0..<replays {
            let copy = good[next(below: good.count)]
            add([copy], to: "replays/\(index % 20)", "copy-\(index).json", copy.text)
        }
        files += beside.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private mutating func write(_ elements: [Element]) {
        var rest = elements[...]
        while !rest.isEmpty {
            // At least two: the malformed ones never stand alone, for no two of them come after each other often enough.
            let size = min(rest.count, 20 + next(below: 40))
            let group = rest.prefix(size)
            rest = rest.dropFirst(size)
            let separator = [",", ",\n", " ,\r\n\t"][next(below: 3)]
            let mark = next(below: 5) == 0 ? "\u{FEFF}" : ""
            let text = group.map(\.text).joined(separator: separator)
            add(group, to: "2025/\(files.count % 7)", "events-\(files.count).json", mark + "[\(text)]\n")
        }
    }

    private mutating func add(_ elements: some Sequence<Element>, to folder: String, _ name: String, _ text: String) {
        files.append(("\(folder)/\(name)", Array(text.utf8)))
        for photo in elements.compactMap(\.photo) { beside["\(folder)/\(photo.name)"] = photo.bytes }
    }

    private mutating func event(_ index: Int) -> Element {
        let text = "\(Self.mark)words \(index) \(next(below: 1_000_000_000)) é"
        let title = "\(Self.mark)title \(index) \(next(below: 1_000_000_000))"
        texts += [text, title]
        expected.events += 1
        let id = index.isMultiple(of: 9) ? "\(1_000_000 + index)" : "\"event-\(index)\""
        let profile = ["profile-1", "+17788143739", "(778) 814-3739", "+1 778 814 3739"][next(below: 4)]
        let type = ["taskResponse", "profileCreated", "moodChanged"][next(below: 3)]
        let user = index.isMultiple(of: 5) ? "" : #""userId":"user-1","#
        let head =
            #"{"id":\#(id),\#(user)"profileId":"\#(profile)","eventType":"\#(type)","createdAt":\#(time(index)),"#
            + #""taskTitle":"\#(title)","text":"\#(text)""#
        let photo = photoData(index)
        return Element(text: "\(head)\(photo.member)}", photo: photo.beside)
    }

    private mutating func time(_ index: Int) -> String {
        let seconds = 1_700_000_000 + index * 60
        let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        return ["\(seconds)", "\(seconds)000", "\"\(seconds)\"", "\"\(text)\""][next(below: 4)]
    }

    private mutating func photoData(
        _ index: Int
    ) -> (member: String, beside: (name: String, bytes: [UInt8])?) {
        let form = next(below: 10)
        if form < 3 { return (["", #","photoData":null"#, #","photoData":"<null>""#][form], nil) }
        expected.photos += 1
        let bytes = Self.photo(index, from: photo)
        if form == 3 {
            let name = "photo-\(index).jpg"
            return (#","photoData":"\#(name)""#, (name, bytes))
        }
        var base64 = Data(bytes).base64EncodedString()
        switch form {
        case 4: base64.replace("+", with: "-")
        case 5: base64 = base64.filter { $0 != "=" }
        case 6: base64.replace("/", with: "\\/")
        case 7: base64 = Self.lines(base64)
        case 8: base64 = "data:image/jpeg;base64," + base64
        default: break
        }
        if form == 4 { base64.replace("/", with: "_") }
        return (#","photoData":"\#(base64)""#, nil)
    }

    private mutating func bad(_ index: Int) -> String {
        let text = "\(Self.mark)words of a malformed event \(index)"
        texts.append(text)
        let (id, profile) = (#""id":"bad-\#(index)""#, #""profileId":"p""#)
        let (type, time) = (#""eventType":"taskResponse""#, #""createdAt":1700000000"#)
        let members: [String] =
            switch index % 10 {
            case 0: [profile, type, time]
            case 1: [id, type, profile]
            case 2: [id, type, profile, #""createdAt":"some day""#]
            case 3: [#""id":"../bad""#, profile, type, time]
            case 4: [#""id":["bad"]"#, profile, type, time]
            case 5: [id, id, profile, type, time]
            case 6: [id, profile, time]
            case 7: [id, profile, type, time, #""photoData":"\#(text)""#]
            case 8: [id, profile, type, time, #""photoData":17"#]
            default: [id, profile, #""eventType":"\#(text)""#, time]
            }
        return "{\((members + [#""text":"\#(text)""#]).joined(separator: ","))}"
    }

    /// The JPEG with a comment (ITU T.81, B.2.4.5) that makes it another one.
    package static func photo(_ index: Int, from jpeg: [UInt8]) -> [UInt8] {
        let comment = Array("photo \(index)".utf8)
        return Array(jpeg.prefix(2)) + [0xFF, 0xFE, 0, UInt8(comment.count + 2)] + comment + jpeg.dropFirst(2)
    }

    private static func lines(_ base64: String) -> String {
        var lines = ""
        for (index, character) in base64.enumerated() {
            if index > 0, index.isMultiple(of: 76) { lines += "\\r\\n" }
            lines.append(character)
        }
        return lines
    }

    /// Knuth's MMIX generator.
    private mutating func next(below limit: Int) -> Int {
        noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(noise >> 33) % limit
    }
}
