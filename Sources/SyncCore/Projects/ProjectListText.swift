import FoundationEssentials

/// `projects.json` as bytes, and where its records are in them: an array, or an object whose `projects` is one.
///
/// Records are found without being understood, so that one can be cut out and all others stay as they are, to the byte.
package struct ProjectListText: Hashable, Sendable {
    package let bytes: [UInt8]
    /// The bytes of each record, in the order of the file.
    package let records: [Range<Int>]

    /// - Throws: ``ProjectListDamage`` when the text does not hang together: cut off, or no JSON at all.
    package init(_ bytes: [UInt8]) throws(ProjectListDamage) {
        guard bytes.contains(where: { $0 > 0x20 }) else { throw ProjectListDamage(description: "it is empty") }
        var scan = Scan()
        let records = bytes.withUnsafeBufferPointer { scan.run($0) }
        guard let records else { throw ProjectListDamage(description: scan.complaint) }
        self.bytes = bytes
        self.records = records
    }

    /// The text without some of its records.
    /// - Parameter indexes: into ``records``.
    package func removing(_ indexes: Set<Int>) -> [UInt8] {
        guard let first = records.first, let last = records.last else { return bytes }
        let kept = records.indices.filter { !indexes.contains($0) }
        var text = Array(bytes[..<first.lowerBound])
        for (place, index) in kept.enumerated() {
            text += bytes[records[index]]
            // What stands between it and the record after it: a comma, and white space as its writer likes it.
            if place < kept.count - 1 { text += bytes[records[index].upperBound..<records[index + 1].lowerBound] }
        }
        return text + bytes[last.upperBound...]
    }
}

/// Why `projects.json` cannot be read as a whole.
package struct ProjectListDamage: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

/// Finds the records. It follows strings and brackets only (RFC 8259); whether a record is JSON is seen when it is read.
private struct Scan {
    private(set) var complaint = "it is no JSON"
    private var position = 0

    mutating func run(_ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>]? {
        position = text.utf8MarkLength
        skipSpace(text)
        let records: [Range<Int>]?
        switch byte(text) {
        case UInt8(ascii: "["): records = array(text)
        case UInt8(ascii: "{"): records = object(text)
        default: return nil
        }
        skipSpace(text)
        guard let records, position == text.count else { return nil }
        return records
    }

    private func byte(_ text: UnsafeBufferPointer<UInt8>) -> UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace(_ text: UnsafeBufferPointer<UInt8>) {
        while position < text.count, text[position].isBlank { position += 1 }
    }

    private mutating func take(_ character: UInt8, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        skipSpace(text)
        guard byte(text) == character else {
            if position >= text.count { complaint = "it ends in the middle" }
            return false
        }
        position += 1
        return true
    }

    private mutating func array(_ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>]? {
        guard take(UInt8(ascii: "["), text) else { return nil }
        var elements: [Range<Int>] = []
        if take(UInt8(ascii: "]"), text) { return elements }
        while true {
            guard let element = value(text) else { return nil }
            elements.append(element)
            if take(UInt8(ascii: "]"), text) { return elements }
            guard take(UInt8(ascii: ","), text) else { return nil }
        }
    }

    private mutating func object(_ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>]? {
        guard take(UInt8(ascii: "{"), text) else { return nil }
        var records: [Range<Int>]?
        if take(UInt8(ascii: "}"), text) {
            complaint = "it has no \"projects\""
            return nil
        }
        while true {
            guard let name = value(text), take(UInt8(ascii: ":"), text) else { return nil }
            skipSpace(text)
            if text[name].elementsEqual("\"projects\"".utf8), byte(text) == UInt8(ascii: "[") {
                records = array(text)
                if records == nil { return nil }
            } else if value(text) == nil {
                return nil
            }
            if take(UInt8(ascii: "}"), text) { break }
            guard take(UInt8(ascii: ","), text) else { return nil }
        }
        if records == nil { complaint = "it has no \"projects\"" }
        return records
    }

    /// Passes one value: a string, brackets with all that is in them, or a word.
    private mutating func value(_ text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        skipSpace(text)
        let start = position
        var open: [UInt8] = []
        repeat {
            guard let character = byte(text) else {
                complaint = "it ends in the middle"
                return nil
            }
            switch character {
            case UInt8(ascii: "\""):
                guard passString(text) else { return nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // Two more in ASCII is the closing one.
                open.append(character + 2)
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() == character else { return nil }
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard !open.isEmpty else { return nil }
                position += 1
            case _ where open.isEmpty:
                passWord(text)
            default:
                position += 1
            }
        } while !open.isEmpty
        return start < position ? start..<position : nil
    }

    private mutating func passString(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        position += 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""):
                position += 1
                return true
            default: position += 1
            }
        }
        complaint = "it ends in the middle"
        return false
    }

    private mutating func passWord(_ text: UnsafeBufferPointer<UInt8>) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                return
            default: position += 1
            }
        }
    }
}

/// `projects.json`, read: the records that can be used, and what is wrong with the others.
package struct ProjectList: Hashable, Sendable {
    /// A record that is left out.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Its place in the file, from 1.
        package var number: Int
        package var id: String?
        package var reason: String

        package var description: String {
            "record \(number)\(id.map { " (\($0.escapingControls))" } ?? "") is left out: \(reason)"
        }
    }

    package let text: ProjectListText
    /// In the order of the file; each id once.
    package let records: [ProjectRecord]
    package let problems: [Problem]
    private let indexes: [ByteString: [Int]]

    /// - Throws: ``ProjectListDamage`` when the file as a whole cannot be read. A record that makes no sense is a problem,
    ///   and the others count.
    package init(_ bytes: [UInt8]) throws(ProjectListDamage) {
        let text = try ProjectListText(bytes)
        let decoder = JSONDecoder()
        var records: [ProjectRecord] = []
        var places: [ByteString: Int] = [:]
        var indexes: [ByteString: [Int]] = [:]
        var problems: [Problem] = []
        for (index, range) in text.records.enumerated() {
            guard let read = try? decoder.decode(ReadProject.self, from: Data(bytes[range])) else {
                throw ProjectListDamage(description: "record \(index + 1) is no JSON")
            }
            if let id = read.id { indexes[id.inBytes, default: []].append(index) }
            switch read.result {
            case .failure(let unusable):
                problems.append(Problem(number: index + 1, id: read.id, reason: unusable.reason))
            case .success(let record):
                guard let place = places[record.id.inBytes] else {
                    places[record.id.inBytes] = records.count
                    records.append(record)
                    continue
                }
                problems.append(Problem(number: index + 1, id: record.id, reason: "another record has the same id"))
                // The one that says more of the project counts.
                if record.status == .completed, records[place].status != .completed { records[place] = record }
            }
        }
        self.text = text
        self.records = records
        self.problems = problems
        self.indexes = indexes
    }

    /// The file without the records of these projects; `nil` when it has none of them.
    package func removing(_ ids: Set<ByteString>) -> [UInt8]? {
        let found = Set(ids.flatMap { indexes[$0] ?? [] })
        return found.isEmpty ? nil : text.removing(found)
    }
}
