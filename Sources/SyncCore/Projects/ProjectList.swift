import FoundationEssentials

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
                throw ProjectListDamage("record \(index + 1) is no JSON")
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
