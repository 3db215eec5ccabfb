import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// A ledger in memory beside a disk that is a dictionary and a clock that only tests move.
final class World {
    let ledger: Ledger
    private(set) var folders: [FolderRecord]
    private(set) var disk: [FilePath: FileStamp] = [:]
    var now = Date(timeIntervalSince1970: 1_000_000)
    private var nextInode: UInt64 = 100
    private var lastTick: Int64 = 1_000_000

    static let gallery = WatchedFolder(kind: .gallery, path: "/pictures/gallery", profile: "grandma")
    static let trips = WatchedFolder(kind: .vacations, path: "/pictures/trips")
    static let projects = WatchedFolder(kind: .projects, path: "/pictures/projects")

    init(_ watched: [WatchedFolder] = [gallery, trips, projects]) throws {
        ledger = try Ledger.inMemory()
        folders = try ledger.register(watched)
    }

    func register(_ watched: [WatchedFolder]) throws {
        folders = try ledger.register(watched)
    }

    // The disk

    @discardableResult
    func write(_ path: FilePath, size: Int64 = 1_000) -> FileStamp {
        nextInode += 1
        let time = tick()
        let stamp = FileStamp(
            device: 1, inode: nextInode, size: size, modified: Int64(nextInode) * 1_000, changed: time, born: time)
        disk[path] = stamp
        return stamp
    }

    /// As file systems do it: the time of the last change moves.
    func rename(_ path: FilePath, to other: FilePath) {
        move(path, to: other)
        disk[other]?.changed = tick()
    }

    /// As a rename of a folder above does it: nothing of the file's stamp moves.
    func move(_ path: FilePath, to other: FilePath) {
        disk[other] = disk.removeValue(forKey: path)
    }

    /// The next reading of the disk's clock.
    func tick() -> Int64 {
        lastTick += 1
        return lastTick
    }

    func remove(_ path: FilePath) {
        disk[path] = nil
    }

    func put(_ stamp: FileStamp?, at path: FilePath) {
        disk[path] = stamp
    }

    func isThere(_ path: FilePath) -> Bool { disk[path] != nil }

    // The agent

    /// Reconciles every directory of every folder, and ends each scan.
    @discardableResult
    func scan(settled: (FileStamp) -> Bool = { _ in true }) throws -> [DirectoryDifference] {
        // As texts: comparing paths by component takes most of a test's time when it is not optimised.
        let files = disk.map { (path: $0.key.string, stamp: $0.value) }
        return try folders.flatMap { folder in
            let prefix = folder.path.string + "/"
            let below = files.compactMap { file -> (path: Substring, stamp: FileStamp)? in
                file.path.hasPrefix(prefix) ? (file.path.dropFirst(prefix.count), file.stamp) : nil
            }
            let directories = Dictionary(grouping: below) { file in
                file.path.lastIndex(of: "/").map { String(file.path[..<$0]) } ?? ""
            }
            let differences = try directories.keys.sorted().map { place in
                let scanned = (directories[place] ?? []).compactMap { file in
                    FilePath(String(file.path)).lastComponent.map { ScannedFile(name: $0, stamp: file.stamp) }
                }
                return try ledger.reconcile(
                    folder.id, directory: FilePath(place), files: scanned, settled: settled, stillThere: isThere,
                    at: now)
            }
            try ledger.finishScan(folder.id, below: "", visited: Set(differences.compactMap(\.directoryID)), at: now)
            return differences
        }
    }

    /// Claims all that is due and stores it.
    @discardableResult
    func storeAll() throws -> [Claim] {
        let claims = try ledger.claim(limit: .max, at: now)
        for claim in claims { try ledger.commit(claim, outcome: stored(claim), at: now) }
        return claims
    }

    /// The outcome of a good upload of what was claimed.
    func stored(_ claim: Claim) throws -> Outcome {
        let digest = try Self.digest(of: claim.stamp)
        let key =
            claim.folder.kind == .projects
            ? try KeyLayout(user: "ana").projectFile(claim.relativePath.string)
            : try KeyLayout(user: "ana").photo(PhotoID(digest.md5))
        return .uploaded(
            digest,
            ObjectRecord(
                key: key, size: claim.stamp.size / 2, md5: digest.md5, sha256: digest.sha256, contentType: "image/jpeg",
                width: 2_048, height: 1_536, takenAt: CaptureTime(clock: 500_000, offset: 540), storedAt: now))
    }

    func status(_ path: FilePath) throws -> PhotoStatus? {
        var found: PhotoStatus?
        try ledger.photos(at: path) { found = $0 }
        return found
    }

    func state(_ path: FilePath) throws -> PhotoState? {
        try status(path)?.state
    }

    /// Stands for the digest of a file's content: files of one stamp have one.
    static func digest(of stamp: FileStamp) throws -> ContentDigest {
        let inode = withUnsafeBytes(of: stamp.inode) { Array($0) }
        let size = withUnsafeBytes(of: stamp.size) { Array($0) }
        guard let md5 = MD5Digest(bytes: inode + size), let sha256 = SHA256Digest(bytes: inode + size + inode + size)
        else { throw NoDigest() }
        return ContentDigest(md5: md5, sha256: sha256)
    }

    /// Of the stored copy of a file in a folder whose photos are pooled.
    static func key(of stamp: FileStamp) throws -> ObjectKey {
        try KeyLayout(user: "ana").photo(PhotoID(digest(of: stamp).md5))
    }

    struct NoDigest: Error {}
}

extension PhotoState {
    /// Brings the photo at `path`, which is in no ledger yet, into this state; the file is there unless it is missing.
    /// - Parameter stamp: of the file; a new one when there is none.
    func prepare(_ path: FilePath, in world: World, stamp: FileStamp? = nil) throws {
        if let stamp { world.put(stamp, at: path) } else { world.write(path) }
        try world.scan()
        if self == .pending { return }
        let claims = try world.ledger.claim(limit: 1, at: world.now)
        for claim in claims {
            switch self {
            case .pending, .uploading: break
            case .uploaded, .missing, .lost:
                try world.ledger.commit(claim, outcome: world.stored(claim), at: world.now)
            case .failed:
                try world.ledger.commit(claim, outcome: .failed("the file is cut off", nil), at: world.now)
            case .skipped:
                try world.ledger.commit(claim, outcome: .skipped("no photo"), at: world.now)
            }
        }
        guard !isOnDisk else { return }
        let stamp = world.disk[path]
        world.remove(path)
        try world.scan()
        if self == .lost, let stamp, let record = try world.ledger.object(World.key(of: stamp)) {
            try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        }
        world.put(stamp, at: path)
    }
}

extension [EventRecord] {
    /// The first one with an id.
    subscript(id: String) -> EventRecord? { first { $0.eventID.inBytes == id.inBytes } }
}
