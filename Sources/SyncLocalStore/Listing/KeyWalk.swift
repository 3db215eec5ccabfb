import SyncCore
import SystemPackage

/// Finds the keys of one page by walking `records/` in the order of keys.
struct KeyWalk {
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private let limit: Int
    private let records: FilePath
    private let capacity: Int
    private let check: () throws -> Void
    private(set) var keys: [ObjectKey] = []
    /// The last window of a large folder: the next page begins where it goes on.
    private(set) var cache: FolderWindow?

    /// - Parameters:
    ///   - after: keys up to and with this one are left out.
    ///   - check: throws when the walk is to end.
    init(
        prefix: String, after: String?, limit: Int, records: FilePath, capacity: Int, cache: FolderWindow?,
        check: @escaping () throws -> Void
    ) {
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
        self.limit = limit
        self.records = records
        self.capacity = capacity
        self.cache = cache
        self.check = check
    }

    mutating func run() throws {
        // The whole segments of the prefix name one folder: nothing above it has to be read.
        let end = prefix.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let text = String(decoding: prefix[..<end], as: UTF8.self)
        let segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropLast()
        guard let folder = RecordPath.folder(ofSegments: segments) else { return }
        try walk(folder.isEmpty ? records : records.pushing(FilePath(folder)), base: Array(prefix[..<end]))
    }

    private mutating func walk(_ folder: FilePath, base: [UInt8]) throws {
        guard var bounds = PieceBounds(base: base, prefix: prefix, after: after) else { return }
        while true {
            try check()
            guard let window = try FolderWindow.read(folder, bounds, capacity: capacity, cached: cache) else { return }
            if window.isWorthKeeping { cache = window }
            for entry in window.entries where bounds.admit(entry) {
                switch entry.kind {
                case .record:
                    let name = String(decoding: base + entry.piece, as: UTF8.self)
                    if let key = try? ObjectKey(name) { keys.append(key) }
                case .folder, .chunk:
                    try walk(folder.appending(entry.name), base: base + entry.piece)
                }
                if keys.count == limit { return }
            }
            guard !window.isComplete, let last = window.entries.last else { return }
            bounds.skipped = Array(last.piece)
        }
    }
}
