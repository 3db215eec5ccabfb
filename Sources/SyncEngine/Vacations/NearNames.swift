/// Names that somebody may have meant who wrote another one: one of them holds the other, or a few letters differ.
struct NearNames {
    private static let limit = 3

    let names: [String]

    init(of name: String, among known: [String]) {
        let asked = name.lowercased()
        let tolerated = max(asked.count / 4, 1)
        let rated = Set(known).compactMap { known -> (name: String, distance: Int)? in
            let candidate = known.lowercased()
            if candidate.contains(asked) || asked.contains(candidate) { return (known, 0) }
            let distance = Self.distance(Array(asked), Array(candidate))
            return distance <= tolerated ? (known, distance) : nil
        }
        names = rated.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(Self.limit).map(\.name)
    }

    /// How many letters have to be added, removed or changed (V. I. Levenshtein, 1965).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, candidate) in other.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (letter == candidate ? 0 : 1))
                diagonal = above
            }
        }
        return row[other.count]
    }
}
