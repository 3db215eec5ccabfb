import SyncCore
import SyncSystem
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
        var identity: FolderIdentity
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

/// Where something is below a root. Empty for the root itself.
struct RelativePath: Hashable {
    private(set) var names: [EntryName]

    init(_ names: [EntryName] = []) {
        self.names = names
    }

    /// The part of `path` that is below `root`; `nil` when it is not below it, or goes up.
    init?(_ path: FilePath, below root: FilePath) {
        let separator = CChar(UInt8(ascii: "/"))
        let (whole, top) = (path.characters, root.characters)
        guard whole.starts(with: top) else { return nil }
        let rest = whole.dropFirst(top.count)
        guard rest.isEmpty || rest.first == separator || top.last == separator else { return nil }
        names = rest.split(separator: separator).map { EntryName(bytes: $0) }
        let dots = [".", ".."].map { name in EntryName(bytes: name.utf8.map { CChar(bitPattern: $0) }) }
        if names.contains(where: dots.contains) { return nil }
    }

    var isEmpty: Bool { names.isEmpty }
    var last: EntryName? { names.last }

    mutating func append(_ name: EntryName) {
        names.append(name)
    }

    mutating func removeLast() {
        names.removeLast()
    }

    func appending(_ name: EntryName) -> RelativePath {
        RelativePath(names + [name])
    }

    /// As a relative path.
    var filePath: FilePath {
        FilePath(platformString: Array(names.map(\.bytes).joined(separator: [CChar(UInt8(ascii: "/"))])) + [0])
    }

    func filePath(below root: FilePath) -> FilePath {
        var characters = root.characters
        for name in names {
            characters.append(CChar(UInt8(ascii: "/")))
            characters += name.bytes
        }
        characters.append(0)
        return FilePath(platformString: characters)
    }
}

extension FilePath {
    /// Its bytes, without a NUL.
    fileprivate var characters: [CChar] {
        withPlatformString { Array(UnsafeBufferPointer(start: $0, count: length)) }
    }
}

/// The name of one entry of a folder, in the bytes of the file system, whether they are UTF-8 or not.
///
/// The walk and the watcher keep names in this form and make a `FilePath` only of what they hand out: a
/// `FilePath.Component` is a path of its own, and making one costs 1 ms in a debug build of swift-system.
struct EntryName: Hashable {
    /// With the NUL at the end, as system calls want it.
    private let characters: [CChar]

    /// - Parameter name: ends with a NUL; neither empty nor with a `/`.
    init(_ name: UnsafePointer<CChar>) {
        var length = 0
        while name[length] != 0 { length += 1 }
        characters = Array(UnsafeBufferPointer(start: name, count: length + 1))
    }

    /// That of a folder that is looked into: not one of ``IgnoredNames``.
    init?(ofFolderUnlessIgnored name: UnsafePointer<CChar>) {
        guard !IgnoredNames.containsFolder(String(cString: name)) else { return nil }
        self.init(name)
    }

    /// - Parameter bytes: without the NUL.
    init(bytes: some Sequence<CChar>) {
        characters = Array(bytes) + [0]
    }

    var isIgnored: Bool { IgnoredNames.contains(withPointer { String(cString: $0) }) }
    var isIgnoredFolder: Bool { IgnoredNames.containsFolder(withPointer { String(cString: $0) }) }

    /// Without the NUL.
    var bytes: ArraySlice<CChar> { characters.dropLast() }

    func withPointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        characters.withUnsafeBufferPointer { buffer in
            // Never empty: the NUL is there.
            guard let start = buffer.baseAddress else { preconditionFailure("a name has its NUL") }
            return body(start)
        }
    }
}
