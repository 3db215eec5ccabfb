package import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger

/// Keeps earlier images of a project when a new one takes the place of the last, earlier states of `projects.json`, and
/// metadata that somebody else has stored: what this machine has made of its own metadata before is not kept.
///
/// The object that is to be replaced is copied inside the store first, under a key that its time and content make, so that
/// a step that is repeated does nothing twice. An archived image is never overwritten: the new one is then stored among the
/// versions, and that is told.
package struct ProjectVersions: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let others: OtherReferences
    private let kept: Int
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - others: what other machines need.
    ///   - kept: how many earlier images of a project stay reachable.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherReferences, kept: Int,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.others = others
        self.kept = kept
        self.now = now
        self.logger = logger
    }

    /// Of a list that names no project. A record is longer.
    private static let emptyList: Int64 = 32

    private static let metadataEnding = "-metadata.json"

    /// How many versions are removed at a time, at the least, where other machines have catalogues: these are not to be
    /// read for each new image.
    private static let batch = 10

    /// What a version is one of.
    private enum Kind {
        case image, list, metadata

        /// By the ending of the version's key. Those of images are never JSON.
        init(ofVersion key: ObjectKey) {
            func ends(_ ending: String) -> Bool {
                key.rawValue.utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8)
            }
            self = ends(ProjectVersions.metadataEnding) ? .metadata : ends(".json") ? .list : .image
        }
    }

    /// What has versions.
    private struct Subject {
        /// As the ledger calls it: the project whose image it is, or the name of the file.
        let name: String
        let kind: Kind
        /// Below which its versions are. The list has a place beside the projects: its own key cannot be a folder too.
        let project: String

        /// - Parameter key: where it is stored.
        init(_ name: String, at key: ObjectKey) {
            self.name = name
            if name.inBytes == ProjectVersions.list {
                (kind, project) = (Kind.list, "projects")
            } else if String(key.lastSegment).inBytes == name.inBytes, case .metadata(let id) = ProjectFileName(name) {
                (kind, project) = (Kind.metadata, id)
            } else {
                (kind, project) = (Kind.image, name)
            }
        }
    }

    /// What a version is one of, as the ledger calls it.
    static func subject(of version: ObjectKey) -> String {
        let parts = version.segments
        let id = parts.count > 3 ? String(parts[3]) : ""
        return switch Kind(ofVersion: version) {
        case .image: id
        case .list: ProjectFileName.listName
        case .metadata: id + metadataEnding
        }
    }

    /// Whether an object is an earlier state of `projects.json`.
    static func isOfList(_ key: ObjectKey) -> Bool { Kind(ofVersion: key) == .list }

    /// Stores a new image of a project, or a new list or new metadata under the name of its file, by `upload`.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func store(
        _ photo: PreparedPhoto, of project: String, upload: (PreparedPhoto) async throws -> Uploader.Receipt
    ) async throws -> Uploader.Receipt {
        guard let current = try await store.readableHead(photo.plan.key) else { return try await upload(photo) }
        let subject = Subject(project, at: photo.plan.key)
        if subject.kind == .metadata, try await isOurs(current) { return try await upload(photo) }
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
        guard try await keep(current, of: subject) else {
            return try await storeAside(photo, of: subject, upload: upload)
        }
        let receipt = try await upload(photo)
        await prune(subject, except: receipt.object.key)
        return receipt
    }

    /// Whether this machine has stored it, as far as is known. What others have stored is in the ledger after a rebuild.
    private func isOurs(_ stored: ObjectInfo) async throws -> Bool {
        guard let md5 = stored.photoMD5 else { return false }
        return try await ledger { try $0.isOurs(stored.key, content: md5) }
    }

    /// - Returns: `false` when the object cannot be copied, or replaced.
    private func keep(_ current: ObjectInfo, of subject: Subject) async throws -> Bool {
        if current.isLocked { return false }
        let key = try versionKey(
            of: subject, at: current.modified ?? now(),
            content: current.metadata[MetadataName.md5] ?? current.md5.map { "\($0)" } ?? "\(current.size)",
            named: current.key)
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
            try ledger.noteProjectVersion(version, of: subject.name, copiedFrom: current.key)
        }
        return true
    }

    private func storeAside(
        _ photo: PreparedPhoto, of subject: Subject, upload: (PreparedPhoto) async throws -> Uploader.Receipt
    ) async throws -> Uploader.Receipt {
        var photo = photo
        photo.plan.condition = .ifAbsent
        photo.plan.key = try await versionKey(of: photo, in: subject)
        let receipt = try await upload(photo)
        try await ledger.finish { try $0.noteProjectVersion(receipt.object, of: subject.name) }
        logger.warning(
            """
            project \(subject.project.escapingControls): its \(subject.kind) in the store is archived and is not \
            overwritten; the new one is stored as \(photo.plan.key)
            """)
        await prune(subject, except: receipt.object.key)
        return receipt
    }

    /// Where an image that is stored beside the others goes: by the time of storing it, and where an earlier try has stored
    /// it already.
    private func versionKey(of photo: PreparedPhoto, in subject: Subject) async throws -> ObjectKey {
        let key = try versionKey(of: subject, at: now(), content: "\(photo.examined.id)", named: photo.plan.key)
        let mark = String(key.lastSegment.drop { $0 != "-" }).inBytes
        return try await versions(of: subject).map(\.key).last {
            String($0.lastSegment.drop { $0 != "-" }).inBytes == mark
        } ?? key
    }

    /// What the store has of them, the earliest first.
    private func versions(of subject: Subject) async throws -> [ObjectInfo] {
        try await store.all(below: keys.projectVersions(subject.project)).objects
            .filter { $0.key.isProjectVersion && Kind(ofVersion: $0.key) == subject.kind }.sorted { $0.key < $1.key }
    }

    private static let list = ProjectFileName.listName.inBytes

    /// Of lists, those that a reset must not push out, however often it is rewritten after it: the last one that names any
    /// project, and the longest.
    private func isKeptForGood(_ version: ObjectInfo, among versions: [ObjectInfo], of subject: Subject) -> Bool {
        guard subject.kind == .list else { return false }
        return version.key == versions.last { $0.size > Self.emptyList }?.key
            || version.key == versions.max { $0.size < $1.size }?.key
    }

    /// Whether a version that is gone may have been removed as one too many, on another machine: as many later ones are in
    /// the store as are kept, and it was none that stays for good.
    static func mayHavePruned(_ gone: ObjectRecord, beside stored: [ObjectInfo], kept: Int) -> Bool {
        if gone.storageClass.isArchive { return false }
        let kind = Kind(ofVersion: gone.key)
        let versions = stored.filter {
            $0.key.isProjectVersion && Kind(ofVersion: $0.key) == kind && $0.key != gone.key
        }
        let later = versions.filter { $0.key > gone.key }
        if later.count < kept { return false }
        if kind != .list { return true }
        return later.contains { $0.size > emptyList } && versions.contains { $0.size >= gone.size }
    }

    /// Whether other machines of the user may have stored something here: those that have a catalogue.
    func hasOtherMachines() async throws -> Bool { try await others.haveCatalogs() }

    /// Removes the versions that are too many, by what the store lists. The next new image finds what could not be removed.
    ///
    /// What a file on the disk is stored as stays, and so does what another machine's catalogue names (but for lists, which
    /// change often, and whose last ones stay in any case). So does what is archived: an archive is paid for 90 or 180 days
    /// at least, also when it is deleted before.
    private func prune(_ subject: Subject, except stored: ObjectKey) async {
        do {
            let versions = try await versions(of: subject)
            guard versions.count > kept else { return }
            let folder = try keys.projectVersions(subject.project)
            let inUse = try await ledger { try $0.projectVersionsInUse(below: folder) }.union([stored])
            let tooMany = versions.dropLast(kept)
                .filter { !inUse.contains($0.key) && !$0.storageClass.isArchive && !$0.isInArchiveTier }
                .filter { !isKeptForGood($0, among: versions, of: subject) }.map(\.key)
            guard !tooMany.isEmpty else { return }
            var surplus = tooMany
            if subject.kind != .list, try await hasOtherMachines() {
                guard tooMany.count >= Self.batch else { return }
                let named = try await others.named(among: tooMany)
                surplus.removeAll { named.contains($0) }
                if surplus.isEmpty { return }
            }
            let failures = try await store.delete(surplus)
            let removed = surplus.filter { failures[$0] == nil }
            try await ledger.finish { try $0.forgetProjectObjects(removed) }
            for (key, error) in failures { logger.warning("an old version stays: \(key): \(error)") }
        } catch {
            logger.warning("old versions of project \(subject.project.escapingControls) stay for now: \(error)")
        }
    }

    /// `…/{id}/versions/20260501T101500Z-9e107d9d.jpg`: in the order of their times.
    private func versionKey(
        of subject: Subject, at time: Date, content: String, named key: ObjectKey
    ) throws(InvalidName) -> ObjectKey {
        let moment = time.formatted(.iso8601).filter { $0.isLetter || $0.isNumber }
        let name = key.lastSegment
        let ending = name.lastIndex(of: ".").map { String(name[$0...]) } ?? ""
        let mark = subject.kind == .metadata ? Self.metadataEnding : ending
        return try ObjectKey("\(keys.projectVersions(subject.project))\(moment)-\(content.prefix(8))\(mark)")
    }
}
