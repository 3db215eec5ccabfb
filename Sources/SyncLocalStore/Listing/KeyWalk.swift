import Glibc
import SyncCore
import SyncSystem
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

/// The first entries of a folder in the order of keys, as many as memory allows.
///
/// A folder of a million records is read once for every `capacity` of them, not once for every page: the pages of a
/// listing share a window.
package struct FolderWindow: Sendable {
    /// Some 4 MiB.
    package static let defaultCapacity = 32_768
    /// Fewer entries than this are quicker to read again than to keep.
    private static let largeCount = 1_024

    private(set) var entries = EntryList()
    /// There is nothing behind `entries`.
    private(set) var isComplete = true
    private let folder: FilePath
    private let bounds: PieceBounds
    private let stamp: FileStamp
    private let isSettled: Bool

    var isWorthKeeping: Bool { !isComplete || entries.count >= Self.largeCount }

    /// The window at the beginning of `bounds`: the cached one where it serves, else read anew. `nil` when the folder is
    /// not there.
    static func read(
        _ folder: FilePath, _ bounds: PieceBounds, capacity: Int, cached: FolderWindow?
    ) throws(FileError) -> FolderWindow? {
        guard let stamp = try Disk.folderStatus(folder)?.stamp else { return nil }
        if let cached, cached.serves(folder, bounds, stamp) { return cached }
        var window = FolderWindow(folder: folder, bounds: bounds, stamp: stamp)
        let isThere = try Disk.forEachName(in: folder) { name in
            guard let (piece, kind) = RecordPath.piece(ofEntry: name) else { return }
            if bounds.admit(EntryList.Entry(piece: piece[...], kind: kind)) {
                window.entries.append(name, piece: piece, kind)
            }
            // Cutting at twice the capacity keeps the cost of sorting at a constant for each entry.
            if window.entries.count == 2 * capacity { window.sortAndCut(to: capacity) }
        }
        guard isThere else { return nil }
        window.sortAndCut(to: capacity)
        return window
    }

    private init(folder: FilePath, bounds: PieceBounds, stamp: FileStamp) {
        self.folder = folder
        self.bounds = bounds
        self.stamp = stamp
        // Two changes within a tick of the kernel's clock leave one time: a folder that was changed just now is not
        // known by its time. The kernel's clock it is, hence not the store's.
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        isSettled = stamp.modified / 1_000_000_000 + 2 < Int64(clock.tv_sec)
    }

    private func serves(_ folder: FilePath, _ bounds: PieceBounds, _ stamp: FileStamp) -> Bool {
        let (old, new) = (self.stamp, stamp)
        guard self.folder == folder, isSettled, bounds.isWithin(self.bounds),
            (old.device, old.inode, old.modified) == (new.device, new.inode, new.modified)
        else { return false }
        return isComplete || (entries.last.map(bounds.admit) ?? false)
    }

    private mutating func sortAndCut(to capacity: Int) {
        if entries.count > capacity { isComplete = false }
        entries.sort(keeping: capacity)
    }
}

/// Entries of a folder, all of them in two blocks of memory.
///
/// One allocation for each would cost five times as much, and stay with the thread that made it: malloc(3) has an arena
/// for each. Listing 100,000 objects took 60 MiB so.
struct EntryList: Sendable {
    struct Entry {
        /// What the entry adds to the key: see ``RecordPath``.
        let piece: ArraySlice<UInt8>
        let kind: RecordPath.Kind
        fileprivate var nameBytes: ArraySlice<UInt8> = []

        /// Empty for a record, whose name nobody needs.
        var name: String { String(decoding: nameBytes, as: UTF8.self) }
    }

    /// Where an entry's piece is, and behind it its name.
    private struct Place {
        let start: Int
        let pieceLength: UInt16
        let nameLength: UInt16
        let kind: RecordPath.Kind

        var piece: Range<Int> { start..<start + Int(pieceLength) }
        var name: Range<Int> { piece.upperBound..<piece.upperBound + Int(nameLength) }
    }

    private var bytes: [UInt8] = []
    private var places: [Place] = []

    mutating func append(_ name: String, piece: [UInt8], _ kind: RecordPath.Kind) {
        let start = bytes.count
        bytes += piece
        if kind != .record { bytes += name.utf8 }
        places.append(
            Place(
                start: start, pieceLength: UInt16(piece.count),
                nameLength: UInt16(bytes.count - start - piece.count), kind: kind))
    }

    /// Puts them in the order of their pieces, and keeps the first of them.
    mutating func sort(keeping count: Int) {
        let old = bytes
        old.withUnsafeBufferPointer { old in
            places.sort { first, second in old[first.piece].lexicographicallyPrecedes(old[second.piece]) }
        }
        guard places.count > count else { return }
        bytes = []
        places = places.prefix(count).map { place in
            let start = bytes.count
            bytes += old[place.start..<place.name.upperBound]
            return Place(
                start: start, pieceLength: place.pieceLength, nameLength: place.nameLength, kind: place.kind)
        }
    }
}

extension EntryList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { places.count }

    subscript(index: Int) -> Entry {
        let place = places[index]
        return Entry(piece: bytes[place.piece], kind: place.kind, nameBytes: bytes[place.name])
    }
}

/// Which entries of one folder a page may hold: their pieces, held against what prefix and token leave for the folder.
struct PieceBounds: Hashable {
    private let prefix: ArraySlice<UInt8>
    private let after: ArraySlice<UInt8>?
    /// Entries up to and with this one are done.
    var skipped: [UInt8]?

    /// `nil` when no key below `base` can be in the page.
    init?(base: [UInt8], prefix: [UInt8], after: [UInt8]?) {
        self.prefix = prefix.dropFirst(base.count)
        guard let after else {
            self.after = nil
            return
        }
        if after.starts(with: base) {
            self.after = after.dropFirst(base.count)
        } else if base.lexicographicallyPrecedes(after) {
            return nil
        } else {
            self.after = nil
        }
    }

    func admit(_ entry: EntryList.Entry) -> Bool {
        let piece = entry.piece
        switch entry.kind {
        case .record: guard piece.starts(with: prefix) else { return false }
        case .folder, .chunk: guard piece.starts(with: prefix) || prefix.starts(with: piece) else { return false }
        }
        if let skipped, !skipped.lexicographicallyPrecedes(piece) { return false }
        guard let after else { return true }
        if after.lexicographicallyPrecedes(piece) { return true }
        // The folder that holds the token has more keys behind it.
        return entry.kind != .record && after.starts(with: piece)
    }

    /// Whether whatever these bounds admit was admitted by `earlier` too.
    func isWithin(_ earlier: PieceBounds) -> Bool {
        guard prefix.elementsEqual(earlier.prefix) else { return false }
        if let done = earlier.skipped {
            // A token inside the skipped folder needs that folder.
            let isPast = [skipped?[...], after].contains { start in
                guard let start else { return false }
                return done.lexicographicallyPrecedes(start) && !start.starts(with: done)
            }
            guard isPast || skipped == done else { return false }
        }
        guard let before = earlier.after else { return true }
        guard let after else { return false }
        return !after.lexicographicallyPrecedes(before)
    }
}
