package import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger
import SyncSystem

/// Keeps what is replaced under the name of a file in a projects folder: earlier images, states of `projects.json`,
/// metadata, and what else is in it. Another machine may have stored there what is under the key, or count as its own what
/// this one has stored, and no answer of the store tells.
///
/// The object that is to be replaced is copied inside the store first, under a key that its time and content make, so that
/// a step that is repeated does nothing twice. What is archived is never overwritten: the new one is then stored among the
/// versions, and that is told.
package struct ProjectVersions: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let others: OtherReferences
    private let kept: Int
    private let setAside: SetAsideContent
    private let makers: VersionMakers
    private let othersVersions = OthersVersions()
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - others: what other machines need.
    ///   - kept: how many earlier states of a file stay reachable.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, others: OtherReferences, kept: Int,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        self.others = others
        self.kept = kept
        setAside = SetAsideContent(store: store, ledger: ledger)
        makers = VersionMakers(store: store, ledger: ledger)
        self.now = now
        self.logger = logger
    }

    /// Of a list that names no project. A record is longer.
    private static let emptyList: Int64 = 32

    /// How many versions are removed at a time, at the least, where other machines have catalogues: these are not to be
    /// read for each new image.
    private static let batch = 10

    /// Stores a photo under the name of its file, by `upload`.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func store(
        _ photo: PreparedPhoto, as file: VersionedFile, upload: (PreparedPhoto) async throws -> Uploader.Receipt
    ) async throws -> Uploader.Receipt {
        let current: ObjectInfo?
        do {
            current = try await store.head(photo.plan.key)
        } catch let error as StoreError where error.code == .badDigest {
            // Nobody can read what is there.
            return try await upload(photo)
        }
        if let current { return try await store(photo, as: file, over: current, upload: upload) }
        // Of two machines that find nothing there at the same moment, the second one keeps what the first has put there.
        var first = photo
        first.plan.condition = .ifAbsent
        do {
            return try await upload(first)
        } catch let error as StoreError {
            guard error.code == .invalidRequest || error.code == .archived,
                let current = try await store.readableHead(photo.plan.key)
            else { throw error }
            return try await store(photo, as: file, over: current, upload: upload)
        }
    }

    private func store(
        _ photo: PreparedPhoto, as file: VersionedFile, over current: ObjectInfo,
        upload: (PreparedPhoto) async throws -> Uploader.Receipt
    ) async throws -> Uploader.Receipt {
        // It has come so far before; or it is the same image, reduced by other settings.
        let isSame = current.photoMD5 == photo.examined.digest.md5
        var isThere = current.proof(of: photo.body) == true
        if isSame, !isThere {
            switch try await ObjectReadback(store).claim(of: current) {
            case .proven: isThere = true
            // There is nothing in it to be kept.
            case .contradicted, .none: return try await upload(photo)
            case .unprovable: break
            }
        }
        if isThere {
            var object = ObjectRecord(current)
            object.md5 = photo.examined.digest.md5
            return Uploader.Receipt(object: object)
        }
        // What files that are gone here were stored as may be a version already: another machine has replaced it.
        if let known = photo.known, known.md5 != current.photoMD5 { try await setAside.find(known) }
        guard try await keep(current, of: file) else {
            return try await storeAside(photo, of: file, upload: upload)
        }
        let receipt = try await upload(photo)
        await prune(file, at: current.key, except: receipt.object.key)
        return receipt
    }

    /// - Returns: `false` when the object cannot be copied, or replaced.
    private func keep(_ current: ObjectInfo, of file: VersionedFile) async throws -> Bool {
        if current.isLocked { return false }
        let key = try versionKey(
            of: file, at: current.modified ?? now(),
            content: current.metadata[MetadataName.md5] ?? current.md5.map { "\($0)" } ?? "\(current.size)",
            replacing: current.key)
        do {
            try await store.copy(current.key, to: key, storageClass: current.storageClass, condition: .ifAbsent)
        } catch let error as StoreError {
            switch error.code {
            // An earlier try came so far.
            case .alreadyExists: break
            case .archived, .unsupported: return false
            // Somebody has removed it: nothing is lost by the new one.
            case .notFound:
                try await store.confirmAbsence(of: current.key)
                return true
            default: throw error
            }
        }
        try await ledger.finish { ledger in
            var version = ObjectRecord(current)
            version.key = key
            // The copy has another one.
            version.etag = nil
            // What becomes of another machine's, that one tells: it may delete it.
            guard let known = try ledger.object(current.key), known.md5 == version.md5 else { return }
            // What this machine has found stored there, and has not sent, is that one's which has.
            let told = VersionMaker(of: current, try ledger.catalogStatus())
            let isOwn = try told == .unknown && ledger.isOfOwnFile(current.key)
            let maker = isOwn ? VersionMaker.this : told
            try ledger.noteProjectVersion(version, of: file.name, maker: maker, copiedFrom: current.key)
        }
        return true
    }

    private func storeAside(
        _ photo: PreparedPhoto, of file: VersionedFile, upload: (PreparedPhoto) async throws -> Uploader.Receipt
    ) async throws -> Uploader.Receipt {
        let key = photo.plan.key
        var photo = photo
        photo.plan.condition = .ifAbsent
        photo.plan.key = try await versionKey(of: photo, in: file)
        let receipt = try await upload(photo)
        try await ledger.finish { try $0.noteProjectVersion(receipt.object, of: file.name) }
        logger.warning(
            """
            \(file.words): what the store has of it is archived and is not overwritten; the new one is stored as \
            \(photo.plan.key)
            """)
        await prune(file, at: key, except: receipt.object.key)
        return receipt
    }

    /// Where an image that is stored beside the others goes: by the time of storing it, and where an earlier try has stored
    /// it already.
    private func versionKey(of photo: PreparedPhoto, in file: VersionedFile) async throws -> ObjectKey {
        let key = try versionKey(of: file, at: now(), content: "\(photo.examined.id)", replacing: photo.plan.key)
        let mark = String(key.lastSegment.drop { $0 != "-" }).inBytes
        return try await versions(of: file).map(\.key).last {
            String($0.lastSegment.drop { $0 != "-" }).inBytes == mark
        } ?? key
    }

    /// What the store has of them, the earliest first.
    private func versions(of file: VersionedFile) async throws -> [ObjectInfo] {
        try await store.all(below: file.versions).objects.filter { file.isVersion($0.key) }.sorted { $0.key < $1.key }
    }

    /// Of lists, those that a reset must not push out, however often it is rewritten after it: the last one that names any
    /// project, and the longest.
    private func isKeptForGood(_ version: ObjectInfo, among versions: [ObjectInfo], of file: VersionedFile) -> Bool {
        guard file.kind == .list else { return false }
        return version.key == versions.last { $0.size > Self.emptyList }?.key
            || version.key == versions.max { $0.size < $1.size }?.key
    }

    /// Whether a version that is gone may have been removed as one too many, on another machine: as many later ones are in
    /// the store as are kept, and it was none that stays for good.
    static func mayHavePruned(
        _ gone: ObjectRecord, of file: VersionedFile, beside stored: [ObjectInfo], kept: Int
    ) -> Bool {
        if gone.storageClass.isArchive { return false }
        let versions = stored.filter { file.isVersion($0.key) && $0.key != gone.key }
        let later = versions.filter { $0.key > gone.key }
        if later.count < kept { return false }
        if file.kind != .list { return true }
        return later.contains { $0.size > emptyList } && versions.contains { $0.size >= gone.size }
    }

    /// Removes the versions that are too many, by what the store lists. The next new image finds what could not be removed.
    ///
    /// What a file on the disk is stored as stays, and so does what another machine's catalogue names, and, where it names
    /// the file, what is not this machine's for certain: that one removes its own (but for lists, which change often, and
    /// whose last ones stay in any case). So does what is archived: an archive is paid for 90 or 180 days at least, also
    /// when it is deleted before.
    /// - Parameter key: of the file.
    private func prune(_ file: VersionedFile, at key: ObjectKey, except stored: ObjectKey) async {
        do {
            let versions = try await versions(of: file)
            guard versions.count > kept else { return }
            let inUse = try await ledger { try $0.projectVersionsInUse(below: file.versions) }.union([stored])
            let tooMany = versions.dropLast(kept)
                .filter { !inUse.contains($0.key) && !$0.storageClass.isArchive && !$0.isInArchiveTier }
                .filter { !isKeptForGood($0, among: versions, of: file) }.map(\.key)
            guard !tooMany.isEmpty else { return }
            var surplus = tooMany
            if file.kind != .list, try await others.haveCatalogs() {
                guard tooMany.count(where: { !othersVersions.contains($0) }) >= Self.batch else { return }
                let named = try await others.named(among: tooMany + [key])
                surplus.removeAll { named.contains($0) }
                if !named.isEmpty { surplus = try await own(among: surplus, of: file, at: key) }
                if surplus.isEmpty { return }
            }
            let failures = try await store.delete(surplus)
            let removed = surplus.filter { failures[$0] == nil }
            try await ledger.finish { try $0.forgetProjectObjects(removed) }
            for (key, error) in failures { logger.warning("an old version stays: \(key): \(error)") }
        } catch {
            logger.warning("old versions of \(file.words) stay for now: \(error)")
        }
    }

    /// Of versions of a file that another machine has, too, those that this machine has stored. That others stay of which
    /// nobody knows it is told once.
    private func own(
        among versions: [ObjectKey], of file: VersionedFile, at key: ObjectKey
    ) async throws -> [ObjectKey] {
        let untold = versions.filter { !othersVersions.contains($0) }
        let makers = try await self.makers.makers(of: untold + [key], asks: true)
        let unknown = untold.filter { makers[$0] == .unknown }
        if !unknown.isEmpty {
            logger.warning(
                """
                \(file.words): \(unknown.count.counted("old version stays", "old versions stay")) in the store: another \
                machine has such a file, too, and nothing tells which of the two has stored what; that goes once one of \
                them has deleted its file
                """)
        }
        othersVersions.add(untold.filter { makers[$0] != .this })
        return untold.filter { makers[$0] == .this }
    }

    /// `…/{id}/versions/20260501T101500Z-9e107d9d.jpg`: in the order of their times.
    /// - Throws: ``StoreError`` for a file whose name is so long that none can be made of it.
    private func versionKey(
        of file: VersionedFile, at time: Date, content: String, replacing key: ObjectKey
    ) throws(StoreError) -> ObjectKey {
        let moment = time.formatted(.iso8601).filter { $0.isLetter || $0.isNumber }
        do {
            return try ObjectKey("\(file.versions)\(moment)-\(content.prefix(8))\(file.ending)")
        } catch {
            throw StoreError(
                .invalidRequest, operation: "copy", key: key.rawValue,
                message: "what is stored under this name cannot be kept beside the new one: \(error); rename the file")
        }
    }
}

/// Versions that are not this machine's for certain: they are not asked for again with each new image.
private final class OthersVersions: Sendable {
    private let keys = Lock<Set<ObjectKey>>([])

    func contains(_ key: ObjectKey) -> Bool { keys.withLock { $0.contains(key) } }

    func add(_ versions: [ObjectKey]) { keys.withLock { $0.formUnion(versions) } }
}

extension VersionedFile {
    /// Whose versions they are, for people.
    fileprivate var words: String {
        switch kind {
        case .image: "project \(name.escapingControls)"
        case .list, .metadata, .file: name.escapingControls
        }
    }
}
