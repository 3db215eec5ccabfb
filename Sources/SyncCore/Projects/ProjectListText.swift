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
        let list: Range<Int>?
        do throws(JSONDamage) {
            list = try Self.list(in: bytes)
        } catch {
            if JSONFileText.isUTF16(bytes) { throw ProjectListDamage(description: JSONFileText.refusal) }
            let isCutOff = error.offset == bytes.count
            throw ProjectListDamage(description: isCutOff ? "it ends in the middle" : "it is no JSON")
        }
        guard let list else { throw ProjectListDamage(description: "it has no \"projects\"") }
        self.bytes = bytes
        records = JSONScanner.items(of: bytes, at: list)
    }

    /// The array of the records; `nil` where there is none.
    private static func list(in bytes: [UInt8]) throws(JSONDamage) -> Range<Int>? {
        let value = try JSONScanner.onlyValue(of: bytes, from: bytes.utf8MarkLength)
        let isList = { (value: Range<Int>) in bytes[value.lowerBound] == UInt8(ascii: "[") }
        return isList(value) ? value : JSONObject(bytes, at: value)?.all("projects").map(\.value).last(where: isList)
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

/// `projects.json`, read: the records that can be used, and what is wrong with the others.
package struct ProjectList: Hashable, Sendable {
    /// A record that is left out.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Its place in the file, from 1.
        package var number: Int
        package var id: String?
        package var reason: String
        /// What can be read of it all the same.
        package var record: ProjectRecord?

        package var description: String {
            "record \(number)\(id.map { " (\($0.escapingControls))" } ?? "") is left out: \(reason)"
        }
    }

    package let text: ProjectListText
    /// In the order of the file; each id once.
    package let records: [ProjectRecord]
    package let problems: [Problem]
    private let indexes: [ByteString: [Int]]

    /// What is wrong with the records of projects that have none that can be used, by their ids.
    package var unusable: [ByteString: Problem] {
        let usable = Set(records.map(\.id.inBytes))
        return problems.reduce(into: [:]) { found, problem in
            guard let id = problem.id, !id.isEmpty, !usable.contains(id.inBytes), found[id.inBytes] == nil else {
                return
            }
            found[id.inBytes] = problem
        }
    }

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
                problems.append(
                    Problem(number: index + 1, id: read.id, reason: unusable.reason, record: read.draft))
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
