import SyncCore
import SystemPackage

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

    /// A name that is not one of ``IgnoredNames``.
    init?(unlessIgnored name: UnsafePointer<CChar>) {
        guard !IgnoredNames.contains(String(cString: name)) else { return nil }
        self.init(name)
    }

    fileprivate init(bytes: some Sequence<CChar>) {
        characters = Array(bytes) + [0]
    }

    var isIgnored: Bool { IgnoredNames.contains(withPointer { String(cString: $0) }) }

    fileprivate var bytes: ArraySlice<CChar> { characters.dropLast() }

    func withPointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        characters.withUnsafeBufferPointer { buffer in
            // Never empty: the NUL is there.
            guard let start = buffer.baseAddress else { preconditionFailure("a name has its NUL") }
            return body(start)
        }
    }
}

/// Where something is below a root. Empty for the root itself.
struct RelativePath: Hashable {
    private(set) var names: [EntryName] = []

    init() {}

    init(_ names: [EntryName]) {
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
