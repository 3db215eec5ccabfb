/// Some of a vacation's photos, by their numbers from 0 in the order of the vacation: `0,2-5`.
package struct PhotoSelection: Hashable, Sendable, LosslessStringConvertible {
    /// Numbers have at most six digits.
    private static let limit = 1_000_000

    /// In ascending order, neither touching nor overlapping each other.
    private let ranges: [ClosedRange<Int>]

    /// `nil` unless the text is a list of numbers and ranges.
    package init?(_ description: String) {
        var ranges: [ClosedRange<Int>] = []
        for entry in description.split(separator: ",", omittingEmptySubsequences: false) {
            let bounds = entry.split(separator: "-", omittingEmptySubsequences: false).map { Self.number($0) }
            guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds.last ?? nil, first <= last
            else { return nil }
            ranges.append(first...last)
        }
        self.ranges = Self.merged(ranges)
    }

    package func contains(_ number: Int) -> Bool { ranges.contains { $0.contains(number) } }

    /// The highest number.
    package var last: Int { ranges.last?.upperBound ?? 0 }

    /// The one way to write these photos, so that equal selections have equal texts.
    package var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    private static func number(_ text: Substring) -> Int? {
        let digits = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(String(digits)),
            number < limit
        else { return nil }
        return number
    }

    private static func merged(_ ranges: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
        ranges.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }.reduce(into: []) {
            merged, range in
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}
