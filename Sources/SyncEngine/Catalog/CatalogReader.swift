import FoundationEssentials
import SyncCore
import SyncGzip
import SyncLedger
import SyncSystem
import SystemPackage

extension Error {
    /// Whether a segment cannot be read, and others may be. What the next try may bring is none of it: until then its names would
    /// be under `recovered/`.
    var concernsOneSegment: Bool {
        guard let error = self as? StoreError else { return self is CatalogError }
        let isPassing = [.throttled, .connectionLost, .conflict, .invalidResponse].contains(error.code)
        return !error.concernsWholeStore && !isPassing
    }
}

/// What was read of a segment of the catalogue, besides its photos.
struct CatalogReading: Sendable {
    let state: CatalogState
    /// Where its folders are in the ledger.
    let folders: [Int64: FolderID]
    let drives: [FolderID: [CatalogDrive]]
    /// What it tells of and the store has no more: another file is stored under the key.
    let replaced: Set<CatalogPlace>
    /// What it no longer tells of.
    let gone: Set<CatalogPlace>
    /// Why it is not whole.
    let damage: CatalogError?
}

/// Reads segments of the catalogue into the ledger. A segment is on the disk while it is read, and a thousand lines of it
/// are in memory.
struct CatalogReader: Sendable {
    private static let batch = 1_000
    /// How often a catalogue is read that is written anew while it is read.
    private static let tries = 3
    /// Enough of a segment for its first line.
    private static let headerLength: Int64 = 4_096

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    /// A file of this process's.
    let spool: FilePath
    let pool: BlockingPool
    let time: TimeSource

    /// By the file that catalogues are read into.
    private static let turns = KeyedLock<FilePath>()

    /// What the disk has against the spool file, in plain words.
    func problem(_ error: Errno) -> String { "\(spool): \(FileFault(error, or: "check the state folder").message)" }

    /// Several services of one process read into one file: each waits for the others, and leaves no file behind.
    func alone<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        try await Self.turns.withKey(spool) {
            // What stays is written over by the next read.
            defer { _ = try? spool.unlink() }
            return try await work()
        }
    }

    /// Reads once more what a machine has written anew meanwhile: what was listed is gone then.
    /// - Parameter read: told whether this is the last try, in which what is gone is told as all else is.
    func rereading<Value>(_ read: (_ isLastTry: Bool) async throws -> Value) async throws -> Value {
        for _ in 1..<Self.tries {
            do {
                return try await read(false)
            } catch let error as StoreError where error.code == .notFound {
                continue
            }
        }
        return try await read(true)
    }

    /// The segments that are in the store, by machine.
    /// - Throws: ``StoreError``, `CancellationError`.
    func segments(of machine: String? = nil) async throws -> [String: [CatalogSegment]] {
        var found: [String: [CatalogSegment]] = [:]
        // One that cannot be looked at is read all the same, and tells then what is wrong with it.
        for key in try await store.all(below: keys.catalog + (machine.map { $0 + "/" } ?? "")).keys {
            guard let segment = CatalogSegment(key, keys) else { continue }
            found[segment.machine, default: []].append(segment)
        }
        return found
    }

    /// Why something of a catalogue cannot be read, in plain words, while others may be.
    /// - Returns: `nil` for what concerns all of them, and, but for the last try, for what is to be looked for again.
    func reason(_ error: any Error, isLastTry: Bool = true) -> String? {
        switch error {
        case let error as CatalogError: "\(error)"
        case let error as StoreError where error.code == .notFound && !isLastTry: nil
        case let error as StoreError where error.mayConcernOneObject: "\(error)"
        case let error as Errno: problem(error)
        default: nil
        }
    }

    /// The first line of a segment.
    /// - Throws: ``CatalogError``, ``StoreError``, `CancellationError`.
    func header(of segment: CatalogSegment) async throws -> CatalogHeader {
        let bytes = Lock<[UInt8]>([])
        let key = try segment.key(keys)
        do {
            _ = try await store.get(key, range: 0..<Self.headerLength) { piece in bytes.withLock { $0 += piece } }
        } catch let error as StoreError where error.code == .badDigest {
            // The line may be whole.
        } catch let error as StoreError where error.code == .invalidRange {
            throw CatalogError.damaged("it is empty")
        }
        var reader = try CatalogFileReader(of: segment, keys)
        do {
            try bytes.withLock { $0 }.withUnsafeBytes { try reader.read($0) { _ in } }
        } catch CatalogError.damaged where reader.header != nil {
            // What follows is cut.
        }
        guard let header = reader.header else { throw CatalogError.damaged("its first line cannot be read") }
        return header
    }

    /// Reads a segment into the ledger.
    /// - Parameters:
    ///   - places: where the watched folders of the machine are in the ledger; what is in others is left out.
    ///   - state: gets what it tells besides photos.
    /// - Returns: what it tells besides photos. What could be read of one that is not whole is noted all the same, and
    ///   photos as far as the store confirms them.
    /// - Throws: ``CatalogError/newer(_:)``, ``StoreError``, ``LedgerError``, `CancellationError`, `Errno` of the disk.
    func read(
        _ segment: CatalogSegment, of machine: String? = nil, state: CatalogState,
        places: @escaping @Sendable ([CatalogFolder]) throws -> [Int64: FolderID],
        onLines: @escaping @Sendable (Int) -> Void
    ) async throws -> CatalogReading {
        let cut = try await fetch(segment)
        let now = time.now()
        return try await pool.runChecking { [self] flag in
            var (state, folders) = (state, [Int64: FolderID]())
            var named: [CatalogFolder] = []
            var photos: [CatalogPhoto] = []
            var gone: [CatalogPlace] = []
            var replaced: Set<CatalogPlace> = []
            var reader = try CatalogFileReader(of: segment, keys)
            var damage = cut
            let isProven = try cut == nil && isIntact(flag)
            func note() throws {
                let known = try isProven ? photos : ledger.ledger.confirmed(photos)
                replaced.formUnion(try ledger.ledger.noteCatalog(known, in: folders, of: machine, at: now))
                onLines(known.count)
                photos.removeAll(keepingCapacity: true)
            }
            do {
                try pieces(flag) { piece in
                    try reader.read(piece) { line in
                        if case .folder(let folder) = line { return named.append(folder) }
                        // All of them come first.
                        if folders.isEmpty { folders = try places(named) }
                        switch line {
                        case .photo(let photo): photos.append(photo)
                        // After the photos: one that moved has its new name by then.
                        case .gone(let place): gone.append(place)
                        default: _ = state.take(line)
                        }
                    }
                    if photos.count >= Self.batch { try note() }
                }
                if folders.isEmpty { folders = try places(named) }
                try reader.finish()
            } catch let error as CatalogError {
                if case .newer = error { throw error }
                damage = damage ?? error
            }
            try note()
            try ledger.ledger.noteCatalogGone(gone, in: folders, of: machine)
            var drives: [FolderID: [CatalogDrive]] = [:]
            for folder in named {
                if let place = folders[folder.folder] { drives[place, default: []] += folder.drives ?? [] }
            }
            return CatalogReading(
                state: state, folders: folders, drives: drives, replaced: replaced.subtracting(gone), gone: Set(gone),
                damage: damage)
        }
    }

    /// Reads a segment, and notes nothing of it.
    /// - Parameter take: gets each line but the first and the last one, in order; none where the bytes are damaged.
    /// - Throws: ``CatalogError`` of one that is not whole; ``StoreError``, `CancellationError`, `Errno` of the disk.
    func lines(of segment: CatalogSegment, _ take: @escaping @Sendable (CatalogLine) throws -> Void) async throws {
        if let damage = try await fetch(segment) { throw damage }
        try await pool.runChecking { [self] flag in
            guard try isIntact(flag) else { throw CatalogError.damaged("it cannot be unpacked") }
            var reader = try CatalogFileReader(of: segment, keys)
            try pieces(flag) { try reader.read($0, take) }
            try reader.finish()
        }
    }

    /// Reads what ``fetch(_:)`` has brought.
    private func pieces(_ flag: CancellationFlag, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let file = try FileDescriptor.open(spool, .readOnly, options: [.noFollow, .closeOnExec])
        defer { try? file.close() }
        try file.eachPiece(flag, take)
    }

    /// Whether what ``fetch(_:)`` has brought unpacks to what was packed. The checksum stands at the end: before it is
    /// read, nobody can tell a line that was written from one that damage has made.
    private func isIntact(_ flag: CancellationFlag) throws -> Bool {
        let gzip = try GzipReader()
        do {
            try pieces(flag) { try gzip.read($0) { _ in } }
            try gzip.finish()
            return true
        } catch GzipError.damaged {
            return false
        }
    }

    /// Brings a segment into the spool file.
    /// - Returns: why it is not whole.
    private func fetch(_ segment: CatalogSegment) async throws -> CatalogError? {
        let file = try await pool.run { [spool] in
            try FileDescriptor.open(
                spool, .writeOnly, options: [.create, .truncate, .noFollow, .closeOnExec],
                permissions: [.ownerReadWrite])
        }
        defer { try? file.close() }
        do {
            _ = try await store.get(try segment.key(keys), range: nil) { bytes in
                _ = try file.writeAll(bytes)
            }
            return nil
        } catch let error as StoreError where error.code == .badDigest {
            return .damaged(error.badDigestReason)
        }
    }
}

/// A store to look at, which counts the requests, and the bytes that come, also of a read that fails then.
struct CountingStore: ReadableStore {
    let base: any ReadableStore
    private let requestCount = Lock(0)
    private let byteCount = Lock(0)

    var requests: Int { requestCount.withLock { $0 } }
    var bytes: Int64 { Int64(byteCount.withLock { $0 }) }
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func ownID() async throws -> String? { try await base.ownID() }

    func clockOffset() async throws -> TimeInterval { try await base.clockOffset() }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        requestCount.add()
        return try await base.head(key)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        requestCount.add()
        return try await base.get(key, range: range) { [byteCount] piece in
            byteCount.add(piece.count)
            try sink(piece)
        }
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        requestCount.add()
        return try await base.list(prefix: prefix, after: after, limit: limit)
    }
}
