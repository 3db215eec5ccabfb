/// The folders below one root that have no watch, told by those on top of them: all below one of these is polled.
///
/// Bounded: beyond ``limit`` places, the deepest of them are joined in the folders above them, up to the root. What is
/// watched there, too, is then polled with the rest.
struct UnwatchedTops {
    /// Each is a scan of its own, and some milliseconds.
    static let limit = 256

    private let limit: Int
    private var places: Set<RelativePath> = []

    init(limit: Int = UnwatchedTops.limit) {
        self.limit = max(limit, 1)
    }

    /// None is below another one.
    var all: [RelativePath] {
        Array(places.filter { $0.isEmpty || !isCovered($0.names.dropLast()) })
    }

    /// Whether a path is one of them, or below one.
    func covers(_ path: RelativePath) -> Bool { isCovered(path.names[...]) }

    mutating func insert(_ path: RelativePath) {
        guard !covers(path) else { return }
        places.insert(path)
        if places.count > limit { join() }
    }

    /// A folder is gone, with all below it.
    mutating func remove(_ path: RelativePath) {
        if !places.isEmpty { places = places.filter { !$0.names.starts(with: path.names) } }
    }

    private mutating func join() {
        places = Set(all)
        while places.count > limit, let depth = places.map(\.names.count).max(), depth > 0 {
            places = Set(places.map { $0.names.count == depth ? RelativePath(Array($0.names.dropLast())) : $0 })
            places = Set(all)
        }
    }

    /// Whether `names`, or a folder above, is among the places.
    private func isCovered(_ names: ArraySlice<EntryName>) -> Bool {
        guard !places.isEmpty else { return false }
        return (0...names.count).contains { places.contains(RelativePath(Array(names.prefix($0)))) }
    }
}
