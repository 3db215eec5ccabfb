/// The folders below one root that have no watch, told by those on top of them: all below one of these is polled.
///
/// Bounded: beyond ``limit`` places, the deepest of them are joined in the folders above them, up to the root. What is
/// watched there, too, is then polled with the rest.
struct UnwatchedTops {
    /// Each is a scan of its own, and some milliseconds.
    static let limit = 256

    private let limit: Int
    /// With the folders that wait for a watch from there on.
    private var places: [RelativePath: Int] = [:]

    init(limit: Int = UnwatchedTops.limit) {
        self.limit = max(limit, 1)
    }

    /// None is below another one.
    var all: [RelativePath] {
        places.keys.filter { $0.isEmpty || !isCovered($0.names.dropLast()) }
    }

    /// How many folders wait for a watch.
    var waiting: Int { places.values.reduce(0, +) }

    /// Whether a path is one of them, or below one.
    func covers(_ path: RelativePath) -> Bool { isCovered(path.names[...]) }

    mutating func insert(_ path: RelativePath) {
        guard !covers(path) else { return }
        places[path] = 0
        if places.count > limit { join() }
    }

    /// A folder that is one of them, or below one, would get a watch if there were more.
    mutating func countWaiting(_ path: RelativePath) {
        if let top = top(of: path.names[...]) { places[top, default: 0] += 1 }
    }

    /// A folder is gone, with all below it.
    mutating func remove(_ path: RelativePath) {
        if !places.isEmpty { places = places.filter { !$0.key.names.starts(with: path.names) } }
    }

    private mutating func join() {
        gather()
        while places.count > limit, let depth = places.keys.map(\.names.count).max(), depth > 0 {
            places = Dictionary(
                places.map { path, waiting in
                    (path.names.count == depth ? RelativePath(Array(path.names.dropLast())) : path, waiting)
                }, uniquingKeysWith: +)
            gather()
        }
    }

    /// What is below another one goes into that.
    private mutating func gather() {
        var tops: [RelativePath: Int] = [:]
        for (path, waiting) in places { tops[top(of: path.names[...]) ?? path, default: 0] += waiting }
        places = tops
    }

    private func isCovered(_ names: ArraySlice<EntryName>) -> Bool { top(of: names) != nil }

    /// The uppermost of the places that `names`, or a folder above, is.
    private func top(of names: ArraySlice<EntryName>) -> RelativePath? {
        guard !places.isEmpty else { return nil }
        for count in 0...names.count {
            let path = RelativePath(Array(names.prefix(count)))
            if places[path] != nil { return path }
        }
        return nil
    }
}
