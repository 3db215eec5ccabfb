import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// What lies under a key in `records/`.
enum RecordLookup {
    case absent
    case object(CommitRecord)
    /// There is a record, and it makes no sense: nobody can read the object.
    case unreadable
    /// The disk ignores capitals, and another key has the place: nothing is stored under this one, and nothing can be.
    case taken(by: ObjectKey)

    var object: CommitRecord? { if case .object(let record) = self { record } else { nil } }

    var isAbsent: Bool { if case .absent = self { true } else { false } }

    /// Whether it is known what is stored under the key: only then is what its record does not name nobody's.
    var isOfKey: Bool {
        switch self {
        case .absent, .object: true
        case .unreadable, .taken: false
        }
    }
}

/// How an object's bytes stand to its record.
enum ContentProof {
    /// Those of the recorded SHA-256. With the file's size, and its modification time in nanoseconds since 1970: what
    /// the record tells of both may be wrong.
    case whole(size: Int64, modified: Int64)
    case missing
    /// Other bytes: their number, and their digests where they were read.
    case damaged(size: Int64, digest: ContentDigest?)

    var isWhole: Bool { if case .whole = self { true } else { false } }
}

extension LocalStore {
    func lookup(_ key: ObjectKey) throws -> RecordLookup {
        let path = layout.record(for: key)
        guard let json = try Disk.read(path, atMost: CommitRecord.maximumSize) else {
            try requireReachable(path, below: layout.records)
            return .absent
        }
        guard let record = CommitRecord(json: json) else { return .unreadable }
        if record.key == key.rawValue { return .object(record) }
        guard let other = try? ObjectKey(record.key), try isPlace(of: other, path) || isTwin(other, of: key, path)
        else { return .unreadable }
        return .taken(by: other)
    }

    /// Whether two keys that differ in capitals alone have one place. An inode does not tell it of each disk: some
    /// (FUSE without `use_ino`, CIFS with `noserverino`) give each name its own, and a commit may come between two
    /// looks. The folder is asked only where keys differ so; one that cannot be asked has one place for both.
    private func isTwin(_ other: ObjectKey, of key: ObjectKey, _ path: FilePath) -> Bool {
        guard other.rawValue.lowercased() == key.rawValue.lowercased() else { return false }
        return (try? ignoresCapitals(in: path.removingLastComponent())) ?? true
    }

    /// Whether a record lies where that of a key does: the same file by two names. A record that somebody has put in
    /// the place of another one is none.
    private func isPlace(of key: ObjectKey, _ path: FilePath) throws -> Bool {
        guard let here = try Disk.status(path, followsLinks: true),
            let there = try Disk.status(layout.record(for: key), followsLinks: true)
        else { return false }
        return here.isSameFile(as: there)
    }

    /// The record of a key; `nil` when nothing is stored under it.
    func record(_ key: ObjectKey, _ operation: String) throws -> CommitRecord? {
        try record(lookup(key), of: key, operation)
    }

    func record(_ found: RecordLookup, of key: ObjectKey, _ operation: String) throws -> CommitRecord? {
        switch found {
        case .absent, .taken: return nil
        case .object(let record): return record
        case .unreadable: throw unreadable(key, operation)
        }
    }

    /// A file that is gone cannot be stored again: then only a store without the record goes on. `verify` looks at what the
    /// ledger knows alone, which an earlier version may not be, after a rebuild.
    private func unreadable(_ key: ObjectKey, _ operation: String) -> StoreError {
        var error = StoreError(
            .badDigest, operation: operation, key: key.rawValue,
            message:
                "the record \(layout.record(for: key).string.escapingControls) cannot be read; check the disk. "
                + "Where the object's file is still here, sync-agent verify and sync-agent sync store it again. Where it "
                + "is not, move the record out of the store: what is known of the object here counts as lost then, and "
                + "its bytes stay in objects/. So it is with an earlier version that verify does not name")
        error.isOfRecord = true
        return error
    }

    /// Whether the bytes are those of the record, by their size and time alone; `nil` when only reading them can tell.
    func glance(at record: CommitRecord) throws -> ContentProof? {
        let path = layout.content(record)
        guard let stamp = try Disk.stamp(path) else {
            try requireReachable(path, below: layout.objects)
            return .missing
        }
        return stamp.size == record.size && stamp.modified == record.contentModified
            ? .whole(size: stamp.size, modified: stamp.modified) : nil
    }

    /// Holds the bytes against the record. They are read where size and time do not tell.
    /// - Parameter readsAlways: time tells that nobody wrote to the file, and not that the disk kept its bytes.
    func proof(
        of record: CommitRecord, readsAlways: Bool = false, _ flag: CancellationFlag
    ) throws -> ContentProof {
        let seen = try glance(at: record)
        switch seen {
        case .missing, .damaged: return seen ?? .missing
        case .whole: if !readsAlways { return seen ?? .missing }
        case nil: break
        }
        do {
            let path = layout.content(record)
            let (digest, size, modified) = try digest(of: path, flag)
            if digest.description == record.sha256 { return .whole(size: size, modified: modified) }
            var hasher = ContentHasher()
            let found = try self.digest(of: path, flag) { hasher.update($0) }
            return .damaged(size: found.size, digest: hasher.finalize())
        } catch let error as FileError where error.isMissing {
            return .missing
        }
    }

    /// Reads a file of `objects/`.
    /// - Returns: its digest, its size, and when it was modified, in nanoseconds since 1970.
    func digest(
        of path: FilePath, _ flag: CancellationFlag, body: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> (digest: SHA256Digest, size: Int64, modified: Int64) {
        let file = try OpenFile(path, .read)
        let stamp = try file.stamp()
        let digest = try file.read(0..<stamp.size) { bytes in
            try flag.check()
            body(bytes)
        }
        guard try file.stamp() == stamp else { throw FileError(call: "read", path: path, errno: .resourceBusy) }
        return (digest, stamp.size, stamp.modified)
    }

    private static func taken(_ key: ObjectKey, by other: ObjectKey, _ operation: String) -> StoreError {
        StoreError(
            .invalidRequest, operation: operation, key: key.rawValue,
            message: "the store's disk ignores capitals, and \(other.rawValue.escapingControls) has this place; "
                + "take the store to a disk that tells capitals apart (sync-agent move-store), such as one with ext4 or "
                + "XFS, or give one of the two another name")
    }

    /// Whether a plain name below `objects/` is surely that of one key alone. It is asked where a record was lost, and
    /// nothing else tells whose a file is.
    var ownsPlainNames: Bool { (try? !ignoresCapitals(in: layout.objects)) ?? false }

    func ignoresCapitals(in folder: FilePath) throws(FileError) -> Bool {
        try FileError.of("open", folder) { try capitalsProbe(folder) }
    }

    /// Whether a put or copy may write there. An object whose bytes are missing or damaged is broken, whatever its class,
    /// and so is one whose record makes no sense: a put replaces it. The key is locked.
    /// - Returns: the object that is replaced.
    /// - Throws: `.alreadyExists`, `.archived`; the object is settled then. `.invalidRequest` where another key has the
    ///   place.
    func requireAllowed(
        _ condition: PutCondition, at key: ObjectKey, _ operation: String, _ flag: CancellationFlag
    ) throws -> CommitRecord? {
        try settle(key)
        let current: CommitRecord
        switch try lookup(key) {
        case .absent, .unreadable: return nil
        case .taken(let other): throw Self.taken(key, by: other, operation)
        case .object(let record): current = record
        }
        if condition == .overwrite, !current.isArchived(at: clock) { return current }
        guard try isWhole(current, flag) else { return current }
        if condition == .overwrite { throw Self.archived(key, current, operation: operation) }
        throw StoreError(
            .alreadyExists, operation: operation, key: key.rawValue, message: "an object is stored under this key")
    }

    /// A disk that cannot read the bytes has lost them: new ones are written elsewhere.
    private func isWhole(_ record: CommitRecord, _ flag: CancellationFlag) throws -> Bool {
        do {
            return try proof(of: record, readsAlways: true, flag).isWhole
        } catch let error as FileError where error.errno == .ioError {
            return false
        }
    }

    /// - Throws: `.notFound` when the bytes are gone, `.badDigest` when they are others.
    func requireWhole(_ record: CommitRecord, at key: ObjectKey, _ operation: String, _ flag: CancellationFlag) throws {
        switch try proof(of: record, flag) {
        case .whole: return
        case .missing: throw Self.notFound(key, operation)
        case .damaged:
            throw Self.damaged(
                key, "the bytes of \(layout.content(record)) are not those that were stored", operation: operation)
        }
    }
}
