import FoundationEssentials
import SyncCore
import SyncLedger

/// What is stored, in a ledger that is made anew.
struct RebuiltListing: Sendable {
    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let damaged: [ObjectKey: ObjectRecord]
    let denied: DeniedObjects
    /// Looks at what the ledger calls stored and the listing does not have.
    let audit: ObjectAudit
    let time: TimeSource

    struct Found: Sendable {
        /// What could not be looked at, in plain words.
        var problems = ProblemList<String>()
        /// What was known to be damaged, as the store tells of it now.
        var ruins: [ObjectInfo] = []
    }

    private static let headsInFlight = 8
    private let filesDenied = DeniedObjects()

    /// What a listing cannot look at is there all the same, and nobody's loss: it is asked for by itself.
    /// What was known to be damaged, and is not in the store any more, is forgotten. What else the ledger knows, and the
    /// whole listing lacks, is noted as gone, as by any look at all objects.
    /// - Parameter onCount: told how many objects were listed.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func run(_ onCount: (Int) -> Void) async throws -> Found {
        var count = 0
        var found = Found()
        var unlisted = Set(damaged.keys)
        for prefix in keys.ownPrefixes {
            try await store.eachPage(below: prefix, time: time) { page, span, askedAt in
                if let span { try await noteAbsent(from: page, span, at: askedAt, &found) }
                // Behind the last page.
                if let span, span.through == nil { return }
                var objects = page.objects
                for problem in page.problems {
                    switch try await denied.ask({ try await store.confirmedHead(problem.key) }) {
                    case .success(let info): if let info { objects.append(info) }
                    case .failure(let error):
                        found.problems.note("\(error)")
                        unlisted.remove(problem.key)
                    }
                }
                let listed = try await withStoredFiles(objects)
                try await followReplaced(by: listed)
                let can = store.capabilities
                try await ledger { [keys, damaged] in
                    try $0.noteListed(
                        listed, keys: keys, damaged: damaged, tellsRestores: can.restoresInLists == true,
                        tellsDigests: can.digestsInLists, at: askedAt)
                }
                let ruins = damaged.isEmpty ? [] : listed.filter { damaged[$0.key] != nil }
                unlisted.subtract(ruins.map(\.key))
                found.ruins += ruins
                count += listed.count
                onCount(count)
            }
        }
        let gone = unlisted
        try await ledger { try $0.forgetUnlisted(gone) }
        return found
    }

    /// Before what is new of the page is known: of a new ledger there is nothing to be compared. What could not be asked for
    /// is unclear until the next look.
    private func noteAbsent(
        from page: ObjectPage, _ span: ListedSpan, at askedAt: Date, _ found: inout Found
    ) async throws {
        let comparer = ListingComparer(ledger: ledger, time: time)
        _ = try await comparer.compare(page, span, at: askedAt) { part in
            let absent = part.compactMap(\.absence).filter { damaged[$0.record.key] == nil }
            // The ledger has what came of them.
            var findings = ObjectAudit.Findings()
            let problems = try await audit.check(absent, &findings)
            if problems.isEmpty { return }
            found.problems.note(contentsOf: problems.map { "\($0.error)" })
            try await ledger.finish { try $0.noteUnclear(problems.map(\.key)) }
        }
    }

    /// With what was written beside objects whose keys are made of names: another machine may have put a file of its own
    /// under the name of one of this machine's, and no listing tells of which file an object is the copy. Of what the store
    /// does not give, the listing says what is known.
    private func withStoredFiles(_ page: [ObjectInfo]) async throws -> [ObjectInfo] {
        // The key of a version has its file's digest in it.
        let named = page.map(\.key).filter { $0.isNamedByFile && !$0.isProjectVersion }
        guard !named.isEmpty, filesDenied.end == nil else { return page }
        let told: [ObjectInfo]
        do {
            told = try await store.heads(of: named, atOnce: Self.headsInFlight, filesDenied).found
        } catch let error as StoreError {
            guard filesDenied.end != nil else { throw error }
            return page
        }
        let found = Dictionary(told.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return page.map { listed in
            guard let told = found[listed.key], told.size == listed.size,
                listed.etag == nil || told.etag == listed.etag
            else { return listed }
            var info = listed
            (info.metadata, info.contentType) = (told.metadata, told.contentType)
            return info
        }
    }
}

extension RebuiltListing {
    /// What the ledger knows as the copy of a file, and of which the store tells another file, may be in a version by now:
    /// another machine has put its own in its place since this one has looked last. What it is stored as is that version
    /// then, and its file is neither read nor stored again.
    private func followReplaced(by listed: [ObjectInfo]) async throws {
        // What is known to be damaged is asked for once its names are known.
        let told = listed.filter {
            $0.key.isNamedByFile && !$0.key.isProjectVersion && $0.photoMD5 != nil && damaged[$0.key] == nil
        }
        if told.isEmpty { return }
        let replaced = try await ledger { ledger in
            try told.compactMap { info -> ObjectRecord? in
                guard let known = try ledger.object(info.key), let md5 = known.md5 else { return nil }
                return md5 == info.photoMD5 ? nil : known
            }
        }
        let setAside = SetAsideContent(store: store, ledger: ledger)
        for known in replaced where filesDenied.end == nil {
            do {
                // Of what the store does not give, the catalogue tells.
                _ = try await filesDenied.ask { try await setAside.find(known) }
            } catch let error as StoreError {
                guard filesDenied.end != nil else { throw error }
            }
        }
    }
}

/// What was known to be damaged of other machines, and is taken up as such. Where the store tells otherwise of it than
/// before, it may be stored anew, and its bytes tell: an ETag does not. They are read as by a verification, and paid for
/// as such. What was not read when that ends, for whatever reason, the next rebuild reads.
struct RebuiltDamage: Sendable {
    private static let pageSize = 30

    let store: any ReadableStore
    let ledger: LedgerQueue
    let verification: VerificationRule
    let time: TimeSource

    /// - Parameter ruins: what was damaged, as the store tells of it now.
    /// - Returns: what could not be read, in plain words: it counts as damaged until it is.
    /// - Throws: ``StoreError`` about the whole store, ``LedgerError``, `CancellationError`.
    func read(_ ruins: [ObjectInfo], since left: LeftBehind) async throws -> ProblemList<String> {
        var problems = ProblemList<String>()
        let changed = ruins.filter(left.isChanged)
        if changed.isEmpty { return problems }
        let suspects = try await ledger { ledger in
            try changed.filter { try ledger.object($0.key)?.problem?.isDamage == true }
        }
        let verifier = Verifier(store: store, ledger: ledger, cost: verification.cost, time: time)
        for page in suspects.grouped(atMost: Self.pageSize) {
            do {
                let result = try await verifier.run(
                    .keys(page.map(\.key)), costingAtMost: nil, ofMonth: verification.maximumUSDPerMonth)
                problems.note(contentsOf: result.failures.first.map { "\($0)" })
                try await ledger.finish { try $0.noteRead(asListed: page) }
                guard result.isOverBudget else { continue }
                problems.note(
                    """
                    what was damaged of other machines, and may be stored anew by now, is not read to its end: that costs \
                    more than may be paid this month (verify.max_usd_per_month). It counts as damaged until the next \
                    rebuild, or sync-agent verify --budget USD, has read it
                    """)
                return problems
            } catch let error as StoreError where error.mayConcernOneObject {
                // The store gives none of them.
                problems.note("\(error)")
                return problems
            }
        }
        return problems
    }
}

/// The earlier states of projects in a ledger that was made anew: those that are what no file is stored as. Their keys tell
/// of what they are versions, and the store who has stored them.
struct RebuiltVersions: Sendable {
    private static let headsInFlight = 8
    private static let pageSize = 1_000

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    /// Whether the store is asked whose they are, one HEAD for each of which nobody knows it: it counts as soon as there are
    /// other machines.
    let asks: Bool
    private let denied = DeniedObjects()

    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func run() async throws {
        let status = try await ledger { try $0.catalogStatus() }
        let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) { [keys] in
            try $0.namelessPhotos(below: keys.projects, after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            let makers = try await self.makers(of: page.map(\.key).filter(\.isProjectVersion), status)
            let versions = page.map(\.key).compactMap { key in
                VersionedFile(ofVersion: key).map {
                    (key: key, subject: $0.name, maker: makers[key] ?? VersionMaker.unknown)
                }
            }
            try await ledger { try $0.noteProjectVersions(versions) }
        }
    }

    /// Of one that the store does not give, nobody knows it.
    private func makers(
        of versions: [ObjectKey], _ status: CatalogStatus
    ) async throws -> [ObjectKey: VersionMaker] {
        guard asks, denied.end == nil else { return [:] }
        let unknown = try await ledger { ledger in
            try versions.filter { try (ledger.maker(ofVersion: $0) ?? .unknown) == .unknown }
        }
        do {
            let found = try await store.heads(of: unknown, atOnce: Self.headsInFlight, denied).found
            return Dictionary(
                found.map { ($0.key, VersionMaker(of: $0, status)) }, uniquingKeysWith: { first, _ in first })
        } catch let error as StoreError {
            guard denied.end != nil else { throw error }
            return [:]
        }
    }
}

/// The archive of memories in a ledger that was made anew: what the store tells of each archived photo, one HEAD for each
/// that has no record yet.
struct RebuiltArchive: Sendable {
    private static let headsInFlight = 8
    private static let pageSize = 1_000

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let denied: DeniedObjects

    /// A photo that cannot be looked at stops nothing: the next rebuild asks for it again.
    /// - Returns: which those are, in plain words.
    /// - Throws: ``StoreError`` about the whole store, ``LedgerError``, `CancellationError`.
    func run() async throws -> ProblemList<String> {
        var problems = ProblemList<String>()
        let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) { [keys] in
            try $0.unrecordedObjects(below: keys.galleryArchive, after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            let told = try await store.heads(of: page.map(\.key), atOnce: Self.headsInFlight, denied)
            problems.note(contentsOf: told.problems)
            let memories = told.found.compactMap { Self.memory($0, keys) }
            try await ledger { try $0.noteArchived(memories) }
        }
        return problems
    }

    /// `nil` for one whose writer told neither its type nor its digest: that was no cleanup of ours.
    private static func memory(
        _ info: ObjectInfo, _ keys: KeyLayout
    ) -> (record: RetentionRecord, object: ObjectRecord)? {
        guard let place = ArchivedPhotoPlace(info.key, of: keys) else { return nil }
        let photo = ArchivedGalleryPhoto(info, at: place)
        guard let type = photo.type, let sha256 = photo.sha256 ?? info.sha256 else { return nil }
        return (
            RetentionRecord(
                eventID: photo.eventID, userID: keys.user, profile: place.profile, type: type,
                createdAt: photo.createdAt, signedOffAt: photo.archivedAt ?? info.modified ?? photo.createdAt,
                photo: .init(key: info.key, sha256: sha256)), ObjectRecord(info)
        )
    }
}

extension ReadableStore {
    /// What it has under keys that it has listed before. One that it does not give holds up none of the others.
    /// - Parameter denied: of the whole run.
    /// - Returns: what is there, in the order of the keys, and in plain words what could not be looked at.
    /// - Throws: ``StoreError`` about the whole store, `CancellationError`.
    func heads(
        of keys: [ObjectKey], atOnce width: Int, _ denied: DeniedObjects,
        onEach: @escaping @Sendable () -> Void = {}
    ) async throws -> (found: [ObjectInfo], problems: [String]) {
        let answers = try await keys.concurrently(width) { key -> Result<ObjectInfo?, StoreError> in
            defer { onEach() }
            return try await denied.ask { try await self.confirmedHead(key) }
        }
        var (found, problems): ([ObjectInfo], [String]) = ([], [])
        for answer in answers {
            switch answer {
            case .success(let info): if let info { found.append(info) }
            case .failure(let error): problems.append("\(error)")
            }
        }
        return (found, problems)
    }
}

/// Holds the shares that a catalogue tells of against what the store has of them: what became of them after its last write
/// is in their manifests, and, of those that a person took back elsewhere, beside the catalogue.
struct RebuiltShares: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let notes: ShareNoteReader

    init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout) {
        self.store = store
        self.ledger = ledger
        notes = ShareNoteReader(store: store, ledger: ledger, keys: keys)
    }

    /// One request for each share that is called live, and one for what was taken back elsewhere.
    /// - Returns: which could not be held against their manifests, and what is not known of others, in plain words.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func run() async throws -> [String] {
        var problems: [String] = []
        _ = try await notes.followAll()
        for share in try await ledger({ try $0.unendedShares() }) where share.state == .live {
            if let problem = try await check(share) {
                problems.append("the share of \(share.folder.text.escapingControls) (\(share.id)): \(problem)")
            }
        }
        return problems
    }

    /// Holds one against its manifest.
    /// - Returns: why that cannot be done, or what is not known, in plain words.
    func check(_ share: ShareRecord) async throws -> String? {
        let id = share.id
        let found: CheckedShare?
        do {
            found = try await store.manifestIfAny(of: id)
        } catch let error as StoreError where error.mayConcernOneObject {
            return "its manifest cannot be read: \(error)"
        } catch let error as ShareRefusal {
            return "its manifest is none: \(error)"
        }
        guard let manifest = found else {
            // It goes first when a share ends. What else is left of it is removed, and proven to be gone.
            _ = try await ledger { try $0.endShare(id, .revoked) }
            return nil
        }
        // One that was about to change is published anew, whatever it was.
        guard share.step != .publish else { return nil }
        let unknown = try await ledger { [manifest] in try $0.holdShare(id, against: manifest) }
        if unknown == 0 { return nil }
        return
            "it was changed later: \(unknown.counted("photo")) of it \(unknown == 1 ? "is" : "are") seen, of which nothing "
            + "else is known here; share it again to bring it up to date"
    }
}
