/// Finds the name that was probably meant.
enum NearMiss {
    /// The closest candidate, when it is close: the same but for case, `-` and `_`, or at most one slip away for
    /// every three letters.
    static func suggestion(for name: String, among candidates: [String]) -> String? {
        let wanted = simplified(name)
        let slips = max(wanted.count / 3, 1)
        let ranked = candidates.map { (name: $0, distance: distance(wanted, simplified($0))) }
        return ranked.filter { $0.distance <= slips }.min { $0.distance < $1.distance }?.name
    }

    private static func simplified(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). Quadratic: names longer
    /// than any key are not compared.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        guard max(left.count, right.count) <= 64, !left.isEmpty, !right.isEmpty else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, beforeLast[column - 2] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
