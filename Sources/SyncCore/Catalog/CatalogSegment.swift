/// A segment by its key: `users/{user}/catalog/{machine}/{from}-{to}.jsonl.gz`. It stands for the writes of one machine from
/// one number to another; numbers are given once, and never again.
package struct CatalogSegment: Hashable, Sendable, Comparable {
    private static let ending = ".jsonl.gz"
    private static let digits = 8
    /// No machine comes to more writes: a higher number is damage, and nobody is to reckon with it.
    package static let highestWrite = 1_000_000_000_000

    package var machine: String
    package var from: Int
    package var to: Int

    package init(machine: String, from: Int, to: Int) {
        self.machine = machine
        self.from = from
        self.to = to
    }

    /// `nil` for what is no segment of this user.
    package init?(_ key: ObjectKey, _ keys: KeyLayout) {
        guard let name = key.name(between: keys.catalog, Self.ending) else { return nil }
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        let numbers = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let from = Int(numbers[0]), let to = Int(numbers[1]), from >= 1, from <= to,
            to <= Self.highestWrite
        else { return nil }
        self.init(machine: String(parts[0]), from: from, to: to)
    }

    package func key(_ keys: KeyLayout) throws(InvalidName) -> ObjectKey {
        let name = [from, to].map { $0.padded(to: Self.digits) }.joined(separator: "-")
        return try ObjectKey(segments: ["users", keys.user, "catalog", machine, name + Self.ending])
    }

    /// Whether it stands for all that the other one does.
    package func covers(_ other: CatalogSegment) -> Bool {
        machine == other.machine && from <= other.from && to >= other.to
    }

    package static func < (left: CatalogSegment, right: CatalogSegment) -> Bool {
        (left.machine, left.from, left.to) < (right.machine, right.from, right.to)
    }
}

extension KeyLayout {
    /// The beginning of the keys of the catalogue, of all machines.
    package var catalog: String { "users/\(user)/catalog/" }
}

/// Which segments of one machine are to be read, in which order.
package struct CatalogChain: Hashable, Sendable {
    package private(set) var segments: [CatalogSegment] = []
    /// Writes that no segment stands for: their names are not known.
    package private(set) var gaps: [ClosedRange<Int>] = []
    /// What others stand for as well.
    package private(set) var superseded: [CatalogSegment] = []

    /// - Parameter segments: of one machine, in any order.
    package init(_ segments: some Sequence<CatalogSegment>) {
        let known = segments.sorted { ($0.from, -$0.to) < ($1.from, -$1.to) }
        var end = 0
        for segment in known {
            guard segment.to > end else {
                superseded.append(segment)
                continue
            }
            if segment.from > end + 1 { gaps.append((end + 1)...(segment.from - 1)) }
            self.segments.append(segment)
            end = segment.to
        }
    }
}

/// How many of the last segments the next one takes in, so that there are few of them and each line is seldom written
/// again: a segment is at least four times as long as all that follow it.
package enum CatalogCompaction {
    package static let ratio = 4

    /// - Parameters:
    ///   - lengths: of the segments so far, in lines, the oldest first.
    ///   - new: lines that are to be written.
    /// - Returns: how many of the last ones are taken in.
    package static func absorbed(_ lengths: [Int], new: Int) -> Int {
        var total = new
        var count = 0
        for length in lengths.reversed() {
            guard length < ratio * total else { break }
            total += length
            count += 1
        }
        return count
    }
}
