import SyncCore

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

    /// - Parameter bytes: without the NUL.
    init(bytes: some Sequence<CChar>) {
        characters = Array(bytes) + [0]
    }

    var isIgnored: Bool { IgnoredNames.contains(withPointer { String(cString: $0) }) }

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
