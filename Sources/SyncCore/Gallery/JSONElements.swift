package import FoundationEssentials

/// Where the elements of a JSON file are, whatever they are in: an array, an object of objects under their ids, one of these
/// below the members of other objects, one object a line, or the one object that the file is.
///
/// Nothing is decoded. A file can so be written anew without some of its elements, all other bytes as they were.
package struct JSONElements: Hashable, Sendable {
    /// Elements beyond these are not looked at.
    package static let maximumCount = 100_000

    /// What elements are in.
    private struct Container: Hashable, Sendable {
        /// All that it holds, in order: with the names of members, and lines with their ends.
        let items: [Range<Int>]
        /// Whether there are commas between the items; else each is on a line of its own.
        var hasCommas = true

        func cuts(without removed: Set<Int>) -> [Range<Int>] {
            var isFirst = true
            return items.indices.compactMap { index in
                guard removed.contains(index) else {
                    isFirst = false
                    return nil
                }
                if !hasCommas { return items[index] }
                if !isFirst { return items[index - 1].upperBound..<items[index].upperBound }
                let isLast = index == items.count - 1
                return items[index].lowerBound..<(isLast ? items[index].upperBound : items[index + 1].lowerBound)
            }
        }
    }

    /// Where an element is.
    private struct Place: Hashable, Sendable {
        let container: Int
        let item: Int
        /// Of a member, within its quotes.
        let name: Range<Int>?
    }

    /// Ranges of the file's bytes, in order. A file that is neither array nor object has none.
    package private(set) var elements: [Range<Int>] = []
    /// What is wrong behind the last element; `nil` for a whole file.
    package private(set) var damage: JSONDamage?
    /// Whether the file is one object, and that is the element.
    package private(set) var isOneObject = false
    private var places: [Place] = []
    private var containers: [Container] = []
    private let size: Int

    /// - Parameters:
    ///   - bytes: the whole file. A byte order mark of UTF-8 at its beginning is allowed.
    ///   - likeness: how much an object looks like what is searched for. Arrays and objects that hold such ones, and do not
    ///     look like one, are what elements are in; without it, only the outermost is.
    package init(of bytes: [UInt8], likeness: (JSONObject) -> JSONLikeness = { _ in .none }) {
        size = bytes.count
        let start = bytes.utf8MarkLength
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, in: start..<bytes.count)
            do throws(JSONDamage) {
                try scan(&scanner)
            } catch {
                damage = error
            }
        }
        // The outermost container was filled by the scan: what is in it may be a container itself.
        let found = elements
        elements = []
        for (item, range) in found.enumerated() {
            let place = Place(container: 0, item: item, name: nil)
            if !collect(range, at: place, in: bytes, likeness) { add(range, at: place) }
        }
        isOneObject = isOneObject && elements == found && places.allSatisfy { $0.container == 0 }
    }

    private mutating func scan(_ scanner: inout JSONScanner) throws(JSONDamage) {
        var lines: [Range<Int>] = []
        defer { containers = [Container(items: lines.count > 1 ? lines : elements, hasCommas: lines.count < 2)] }
        scanner.skipSpace()
        switch scanner.peek() {
        case UInt8(ascii: "["):
            try scanner.array(depth: 0) { element throws(JSONDamage) in try note(element) }
        case UInt8(ascii: "{"):
            repeat {
                let element = try scanner.value()
                try note(element)
                let end = scanner.skipLine()
                lines.append(element.lowerBound..<(end ?? element.upperBound))
                isOneObject = lines.count == 1
                if end == nil { break }
            } while scanner.peek() == UInt8(ascii: "{")
        default: _ = try scanner.value()
        }
        scanner.skipSpace()
        guard scanner.isAtEnd else { throw scanner.damage("something follows the end of the value") }
    }

    private mutating func note(_ element: Range<Int>) throws(JSONDamage) {
        guard elements.count < Self.maximumCount else { throw Self.tooMany(from: element) }
        elements.append(element)
    }

    private static func tooMany(from element: Range<Int>) -> JSONDamage {
        JSONDamage(offset: element.lowerBound, reason: "more than \(maximumCount) elements are not read")
    }

    private mutating func add(_ element: Range<Int>, at place: Place) {
        elements.append(element)
        places.append(place)
    }

    // MARK: Containers

    /// Takes the elements out of a value that holds some.
    /// - Returns: `false`, with nothing taken, when it holds none, or is one itself.
    private mutating func collect(
        _ value: Range<Int>, at place: Place, in bytes: [UInt8], _ likeness: (JSONObject) -> JSONLikeness
    ) -> Bool {
        if bytes[value.lowerBound] == UInt8(ascii: "[") {
            return collect(JSONScanner.items(of: bytes, at: value).map { ($0, $0, nil) }, in: bytes, likeness)
        }
        guard bytes[value.lowerBound] == UInt8(ascii: "{"), let object = JSONObject(bytes, at: value),
            likeness(object) != .certain
        else { return false }
        return collect(object.members.map { ($0.range, $0.value, $0.nameRange) }, in: bytes, likeness)
    }

    private mutating func collect(
        _ items: [(whole: Range<Int>, value: Range<Int>, name: Range<Int>?)], in bytes: [UInt8],
        _ likeness: (JSONObject) -> JSONLikeness
    ) -> Bool {
        let saved = (elements.count, places.count, containers.count)
        let container = containers.count
        containers.append(Container(items: items.map(\.whole)))
        let likenesses = items.map { item in
            bytes[item.value.lowerBound] == UInt8(ascii: "{")
                ? JSONObject(bytes, at: item.value).map(likeness) ?? .none : .none
        }
        // Beside events, what is no event is an element too: it is named.
        let holdsSome = likenesses.contains { $0 != .none }
        var isContainer = false
        for (index, item) in items.enumerated() {
            guard elements.count < Self.maximumCount else {
                damage = damage ?? Self.tooMany(from: item.value)
                break
            }
            let place = Place(container: container, item: index, name: item.name)
            if collect(item.value, at: place, in: bytes, likeness) {
                isContainer = true
            } else if holdsSome, item.name == nil || bytes[item.value.lowerBound] == UInt8(ascii: "{") {
                add(item.value, at: place)
                isContainer = true
            }
        }
        guard isContainer else {
            elements.removeLast(elements.count - saved.0)
            places.removeLast(places.count - saved.1)
            containers.removeLast(containers.count - saved.2)
            return false
        }
        return true
    }

    /// The name under which an element stands in an object, within its quotes.
    package func name(of element: Int) -> Range<Int>? { places[element].name }

    // MARK: Cutting

    /// What has to go so that some elements do: each with a comma, or its line. Nothing is said of a file that is one
    /// object.
    /// - Parameter removed: indexes of elements.
    package func cuts(without removed: Set<Int>) -> [Range<Int>] {
        var items: [Int: Set<Int>] = [:]
        for index in removed { items[places[index].container, default: []].insert(places[index].item) }
        let cuts = items.flatMap { container, removed in containers[container].cuts(without: removed) }
        return cuts.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Whether nothing is left in the outermost container without some elements.
    /// - Parameter removed: indexes of elements.
    package func isEmpty(without removed: Set<Int>) -> Bool {
        damage == nil && removed.count == elements.count && !elements.isEmpty
            && (places.allSatisfy { $0.container == 0 } || isMapOnly)
    }

    /// Whether the file is one object, and each member of it is an element.
    private var isMapOnly: Bool {
        containers[0].items.count == 1 && containers.count == 2 && containers[0].hasCommas
            && elements.count == containers[1].items.count && places.allSatisfy { $0.container == 1 && $0.name != nil }
    }
}

/// How much an object looks like what is searched for (``JSONElements``).
package enum JSONLikeness: Hashable, Sendable {
    case none
    /// It may also be something that holds such objects.
    case possible
    case certain
}

/// The members of one JSON object, by where they are in the bytes of its file.
package struct JSONObject: Sendable {
    package struct Member: Hashable, Sendable {
        package let name: String
        /// From the quote before its name to the end of its value.
        package let range: Range<Int>
        package let value: Range<Int>

        /// Within its quotes.
        let nameRange: Range<Int>
    }

    /// In the order of the file. A name may be there twice.
    package private(set) var members: [Member] = []
    /// Where it stands.
    package let range: Range<Int>
    private let bytes: [UInt8]

    /// - Parameter range: of one element, as ``JSONElements`` has found it.
    /// - Returns: `nil` when it is no object.
    package init?(_ bytes: [UInt8], at range: Range<Int>) {
        self.bytes = bytes
        self.range = range
        var found: [(name: Range<Int>, value: Range<Int>)] = []
        let isObject = bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, in: range)
            guard scanner.peek() == UInt8(ascii: "{") else { return false }
            do throws(JSONDamage) {
                try scanner.object(depth: 0) { found.append(($0, $1)) }
                return true
            } catch {
                return false
            }
        }
        guard isObject else { return nil }
        members = found.map { name, value in
            // A name that is no Unicode is none that anybody asks for.
            Member(name: text(name) ?? "", range: name.lowerBound - 1..<value.upperBound, value: value, nameRange: name)
        }
    }

    package func all(_ name: StaticString) -> [Member] {
        members.filter { member in name.withUTF8Buffer { $0.elementsEqual(member.name.utf8) } }
    }

    /// A value that is a text; `nil` for other values, and for what is no Unicode.
    package func string(_ value: Range<Int>) -> String? {
        contents(value).flatMap(text)
    }

    /// The first text with a name, in this object or, if it has none, in those within it.
    package func firstText(_ name: StaticString) -> String? {
        all(name).lazy.compactMap { string($0.value) }.first
            ?? members.lazy.compactMap { object($0.value)?.firstText(name) }.first
    }

    /// Where the text of a value is, without its quotes and as it is escaped; `nil` when the value is no text.
    package func contents(_ value: Range<Int>) -> Range<Int>? {
        guard value.count >= 2, bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return value.lowerBound + 1..<value.upperBound - 1
    }

    /// Bytes of the file.
    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The digits of a value that is a number, as they are written.
    package func number(_ value: Range<Int>) -> String? {
        guard let first = bytes[value].first, first == UInt8(ascii: "-") || first.isDigit else { return nil }
        return String(decoding: bytes[value], as: UTF8.self)
    }

    /// A value that is an object.
    func object(_ value: Range<Int>) -> JSONObject? { JSONObject(bytes, at: value) }

    package func isNull(_ value: Range<Int>) -> Bool { bytes[value].elementsEqual("null".utf8) }

    private func text(_ contents: Range<Int>) -> String? { Self.text(Array(bytes[contents]), isCutOff: false) }

    /// A text as it is escaped, without its quotes.
    /// - Parameter isCutOff: whether it may end within an escape or a character, which is then left out.
    static func text(_ raw: [UInt8], isCutOff: Bool) -> String? {
        guard raw.contains(UInt8(ascii: "\\")) else {
            return isCutOff ? String(decoding: raw, as: UTF8.self) : String(validating: raw, as: UTF8.self)
        }
        let quote = [UInt8(ascii: "\"")]
        for length in (max(isCutOff ? raw.count - 12 : raw.count, 0)...raw.count).reversed() {
            if let text = try? JSONDecoder().decode(String.self, from: Data(quote + raw.prefix(length) + quote)) {
                return text
            }
        }
        return nil
    }
}

/// The fields of a small file that is one object, by their names. Of two with one name, the first counts.
extension JSONObject {
    /// - Returns: `nil` when the bytes are no JSON, or anything but one object.
    package init?(whole bytes: [UInt8]) {
        guard let range = try? JSONScanner.onlyValue(of: bytes) else { return nil }
        self.init(bytes, at: range)
    }

    /// Whether there is such a field, and it is not null.
    package func has(_ name: StaticString) -> Bool { value(name).map { !isNull($0) } ?? false }

    package func string(_ name: StaticString) -> String? { value(name).flatMap(string) }

    /// Also one that a tool has written with a point or an exponent.
    package func integer(_ name: StaticString) -> Int64? {
        value(name).flatMap(number).flatMap { Int64($0) ?? Double($0).flatMap { Int64(exactly: $0) } }
    }

    /// A time as of RFC 3339, to the second.
    package func date(_ name: StaticString) -> Date? { string(name).flatMap { try? Date($0, strategy: .iso8601) } }

    package func object(_ name: StaticString) -> JSONObject? { value(name).flatMap(object) }

    /// - Returns: `nil` when a value is no text.
    package func strings() -> [String: String]? {
        var texts: [String: String] = [:]
        for member in members {
            guard let text = string(member.value) else { return nil }
            texts[member.name] = text
        }
        return texts
    }

    private func value(_ name: StaticString) -> Range<Int>? { all(name).first?.value }
}
