import SystemPackage

/// Goes through a tree depth first, parents first, without recursion.
///
/// At most ``openLimit`` folders are open at a time. Coming back to one that was closed in between, it is opened again
/// by its names from the nearest open one above; when something else stands there by then, what was left to do in it
/// fails with ENOENT.
struct FolderWalk {
    struct Visit {
        /// Relative to the root of the watched tree.
        var path: RelativePath
        /// 0 for the folder where the walk began.
        var depth: Int
        /// The folder, or why it could not be opened.
        var folder: Result<DirectoryHandle, Errno>
    }

    private struct Level {
        var name: EntryName?
        var handle: DirectoryHandle?
        var identity: DirectoryHandle.Identity
        /// Folders below it that are still to visit.
        var pending: [EntryName]
    }

    private let openLimit: Int
    private var levels: [Level] = []
    private var path: RelativePath

    /// - Parameters:
    ///   - path: where `start` is, relative to the root of the watched tree.
    ///   - visit: gets each folder, and names those below it that are to be visited.
    static func run(
        from start: DirectoryHandle, at path: RelativePath, openLimit: Int = 64,
        visit: (Visit) throws -> [EntryName]
    ) rethrows {
        var walk = FolderWalk(path: path, openLimit: openLimit)
        let below = try visit(Visit(path: path, depth: 0, folder: .success(start)))
        walk.enter(start, named: nil, pending: below)
        while let (name, folder) = walk.next() {
            let depth = walk.levels.count
            walk.path.append(name)
            let below = try visit(Visit(path: walk.path, depth: depth, folder: folder))
            if case .success(let handle) = folder, !below.isEmpty {
                walk.enter(handle, named: name, pending: below)
            } else {
                walk.path.removeLast()
            }
        }
    }

    private init(path: RelativePath, openLimit: Int) {
        self.path = path
        self.openLimit = max(openLimit, 2)
    }

    private mutating func enter(_ handle: DirectoryHandle, named name: EntryName?, pending: [EntryName]) {
        levels.append(Level(name: name, handle: handle, identity: handle.identity, pending: pending))
        // The first level stays open: it is where the others are found again.
        let oldest = levels.count - openLimit
        if oldest > 0 { levels[oldest].handle = nil }
    }

    private mutating func next() -> (EntryName, Result<DirectoryHandle, Errno>)? {
        while let last = levels.indices.last {
            if let name = levels[last].pending.popLast() {
                return (name, Result { () throws(Errno) in try DirectoryHandle(name, in: handle(at: last)) })
            }
            levels.removeLast()
            if !levels.isEmpty { path.removeLast() }
        }
        return nil
    }

    private mutating func handle(at index: Int) throws(Errno) -> DirectoryHandle {
        if let handle = levels[index].handle { return handle }
        guard var open = levels[..<index].lastIndex(where: { $0.handle != nil }), var handle = levels[open].handle
        else {
            throw .noSuchFileOrDirectory
        }
        while open < index {
            open += 1
            guard let name = levels[open].name else { throw .noSuchFileOrDirectory }
            handle = try DirectoryHandle(name, in: handle)
        }
        guard handle.identity == levels[index].identity else { throw .noSuchFileOrDirectory }
        levels[index].handle = handle
        return handle
    }
}
