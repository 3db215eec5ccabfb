import SystemPackage

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
