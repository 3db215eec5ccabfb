import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Holds the ledger against what the store lists: storage class and restore of each object, and whether it is there at all,
/// with its size and ETag. One listing for each thousand objects; what it leaves out or contradicts is asked for by itself,
/// since pages lose keys on some servers. Two pages of objects are in memory at a time.
package struct ClassRefresh: Sendable {
    package struct Summary: Hashable, Sendable {
        /// Objects of ours that the store told of.
        package var seen = 0
        /// Those of which it told something new.
        package var changed = 0
        /// Those that the ledger does not know: another machine's.
        package var unknown = 0
        /// Those that are listed, and of which the store could not tell more: neither there nor gone. The first thousand.
        package var problems: [ObjectProblem] = []
        /// How many there are of them.
        package var problemCount = 0
        /// Of those, what the store does not call damaged itself.
        fileprivate var unclear = 0
        /// What the store no longer has, or has other than it was stored; and what it has again.
        package var findings = ObjectAudit.Findings()
        /// Manifests of vacations that are gone or damaged, and are written again.
        package var manifests = 0
        /// Why this machine's catalogue in the store is not what it is to be, in plain words: the ledger has it noted.
        package var catalogProblem: String?
        /// Segments of the catalogue that others stand for.
        package var catalogLeftovers: [CatalogSegment] = []

        fileprivate mutating func add(_ more: [ObjectProblem]) {
            problems += more.prefix(ClassRefresh.problemsKept - problems.count)
            problemCount += more.count
            unclear += more.count { $0.error.code != .badDigest }
        }
    }

    private static let problemsKept = 1_000

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let audit: ObjectAudit
    private let keys: KeyLayout
    private let holdCatalog: CatalogHold
    private let time: TimeSource

    /// - Parameters:
    ///   - moves: finds archived photos that another machine has moved.
    ///   - pruned: tells which earlier images of projects another machine has removed.
    ///   - holdCatalog: takes the lock of the catalogue: others write it meanwhile.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, moves: MergedPhotos? = nil,
        pruned: PrunedVersions? = nil, holdCatalog: @escaping CatalogHold = { nil }, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        audit = ObjectAudit(store: store, ledger: ledger, moves: moves, pruned: pruned, time: time)
        self.keys = keys
        self.holdCatalog = holdCatalog
        self.time = time
    }

    /// - Parameter onPage: told how many objects were seen by now.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`. What was merged by then stays.
    package func run(onPage: (Int) -> Void = { _ in }) async throws -> Summary {
        var result = Summary()
        var manifests = try await knownManifests()
        var catalog = try await CatalogAudit(store: store, ledger: ledger, keys: keys, hold: holdCatalog, time: time)
        for prefix in keys.ownPrefixes {
            try await store.eachPage(below: prefix, time: time) { page, span, askedAt in
                let objects = page.objects
                let tellsRestores = store.capabilities.restoresInLists == true
                let news = if let span { try await compare(page, span, at: askedAt, &result) } else { objects }
                // Behind the last page.
                if let span, span.through == nil { return }
                if !news.isEmpty {
                    let (changed, unknown) = try await ledger {
                        try $0.mergeReport(news, tellsRestores: tellsRestores, at: askedAt)
                    }
                    result.changed += changed
                    result.unknown += unknown
                }
                if !manifests.isEmpty {
                    let present = page.problems.filter { $0.error.code != .badDigest }.map(\.key)
                    let whole = objects.filter { !isLeftOpen(by: $0) }.map(\.key)
                    for key in whole + present { manifests[key] = nil }
                }
                result.seen += objects.count
                result.add(catalog.see(page))
                onPage(result.seen)
            }
        }
        try await note(inDoubt: manifests, &result)
        let finding = try await catalog.finish()
        result.catalogProblem = finding.problem
        result.catalogLeftovers = finding.leftovers
        result.add(catalog.problems(besides: finding.leftovers))
        result.add(finding.unclear)
        let unclear = result.problems.filter { $0.error.code != .badDigest }.map(\.key)
        let (now, more) = (time.now(), result.unclear - unclear.count)
        try await ledger { try $0.noteClassesRefreshed(at: now, unclear: unclear, more: more) }
        return result
    }

    // MARK: Both ways

    /// Holds what the ledger knows of a span against what was listed of it.
    /// - Returns: those of which there may be something to be noted: restored, in another class than was known, or in a
    ///   page that is out of order, which does not tell what the ledger lacks of it.
    private func compare(
        _ page: ObjectPage, _ span: ListedSpan, at askedAt: Date, _ result: inout Summary
    ) async throws -> [ObjectInfo] {
        let isTold = store.capabilities.digestsInLists
        var news: [ObjectInfo] = []
        let known = try await ListingComparer(ledger: ledger, time: time).compare(page, span, at: askedAt) { part in
            var suspects = part.compactMap(\.absence)
            var listed: [ObjectInfo] = []
            var tags: [(key: ObjectKey, etag: String)] = []
            for difference in part {
                guard let info = difference.listed else { continue }
                let record = difference.known
                if record.storageClass != info.storageClass || record.restore != .none || info.restore != .none {
                    news.append(info)
                }
                if difference.isLater { continue }
                if try await ledger.isSuspect(record, beside: info, isTold: isTold) {
                    suspects.append((record, false))
                    // What is archived was not read: it may be restored later, which changes nothing in a listing.
                    if !info.isLocked { listed.append(info) }
                } else if record.problem == nil, record.etag == nil, let etag = info.etag {
                    tags.append((record.key, etag))
                }
            }
            let learned = tags
            if !learned.isEmpty { try await ledger { try $0.noteTags(learned) } }
            let undecided = try await audit.check(suspects, &result.findings)
            result.add(undecided)
            let later = Set(undecided.map(\.key))
            let seen = listed.filter { !later.contains($0.key) }
            if !seen.isEmpty { try await ledger { try $0.noteRuins(as: seen) } }
        }
        if !page.isInOrder(after: span.after) { return page.objects }
        result.unknown += page.objects.count - known
        return news
    }

    // MARK: Manifests

    private func knownManifests() async throws -> [ObjectKey: String] {
        let names = try await ledger { try $0.storedManifests() }
        return names.reduce(into: [:]) { manifests, name in
            if let key = try? keys.vacation(name) { manifests[key] = name }
        }
    }

    /// Whether a listing that tells a digest of each object that is whole tells none of one.
    private func isLeftOpen(by info: ObjectInfo) -> Bool {
        store.capabilities.digestsInLists && info.md5 == nil && info.sha256 == nil
    }

    /// Of those that are gone or damaged, the vacations have to be stored again.
    /// - Parameter manifests: those that the listing has left out, or has left open.
    private func note(inDoubt manifests: [ObjectKey: String], _ result: inout Summary) async throws {
        for (key, name) in manifests.sorted(by: { $0.key < $1.key }) {
            do {
                // One that was written or removed meanwhile is no longer as it was known.
                if try await store.head(key) != nil, try await !isDamaged(key) { continue }
            } catch let error as StoreError where error.code == .badDigest {
                // One that the store itself says nobody can read is gone, too: it is written again in its place.
            } catch let error as StoreError where error.mayConcernOneObject {
                result.add([ObjectProblem(key: key, error: error)])
                continue
            }
            result.manifests += try await ledger { try $0.noteManifestMissing(name) }
        }
    }

    /// Only a store on a disk of one's own, whose listings tell digests, is read for this: that costs nothing.
    private func isDamaged(_ key: ObjectKey) async throws -> Bool {
        guard store.capabilities.digestsInLists else { return false }
        if case .damaged = try await ObjectReadback(store).read(key) { return true }
        return false
    }
}

extension LedgerQueue {
    /// Whether an object is to be looked at, as the store tells of it. What is damaged is as soon as it is listed otherwise
    /// than when it was found so: somebody may have stored it anew. That it is listed as what was stored proves nothing:
    /// so may a ruin be.
    /// - Parameter isTold: whether listings of the store tell a digest of each object that is whole.
    /// - Throws: ``LedgerError``, `CancellationError`.
    fileprivate func isSuspect(_ record: ObjectRecord, beside info: ObjectInfo, isTold: Bool) async throws -> Bool {
        switch record.problem {
        case .missing: true
        case .damaged: try await callAsFunction { try !$0.knowsRuin(as: info) }
        case nil: record.isDoubted(by: info, isTold: isTold)
        }
    }
}

extension ObjectRecord {
    /// Of one of which nothing wrong is known: whether a listing leaves open, or contradicts, that it is what was stored.
    /// - Parameter isTold: whether listings of the store tell a digest of each object that is whole.
    func isDoubted(by info: ObjectInfo, isTold: Bool) -> Bool {
        switch judged(by: info) {
        case .other: true
        case .same: false
        case .silent: isTold && info.md5 == nil && info.sha256 == nil
        }
    }
}

/// Asks a store what it says of some objects, with as few requests as it can: one listing tells of a thousand objects,
/// a HEAD of one.
package struct ObjectStateQuery: Sendable {
    package enum Finding: Hashable, Sendable {
        case found(ObjectInfo)
        case missing
        case failed(StoreError)
    }

    /// HEADs under way at once.
    private static let headsInFlight = 8
    private static let pageSize = 1_000

    let store: any ReadableStore
    /// How many objects there may be, to know what a listing costs; with `.max` all are asked for by name.
    let knownObjects: Int

    /// - Parameter telling: whether the state of restores is needed too. Not every store's listing tells it.
    /// - Returns: a finding for each key.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; `CancellationError`.
    package func states(of keys: Set<ObjectKey>, tellingRestores telling: Bool) async throws -> [ObjectKey: Finding] {
        var findings: [ObjectKey: Finding] = [:]
        if knownObjects / Self.pageSize + 1 < keys.count {
            for object in try await listed(keys) { findings[object.key] = .found(object) }
        }
        // Pages lose keys on some servers, so that what a listing leaves out is asked for by name.
        let unanswered = keys.filter { key in
            guard case .found(let info) = findings[key] else { return true }
            return telling ? !store.listingTellsAccess(to: info) : info.storageClass == .intelligentTiering
        }
        for (key, finding) in try await heads(unanswered.sorted()) { findings[key] = finding }
        return findings
    }

    /// As ``states(of:tellingRestores:)``, for a few objects in a folder of many: each is listed by itself, so that a
    /// store whose listings tell of restores is asked for nothing else.
    package func sample(_ keys: [ObjectKey]) async throws -> [ObjectKey: Finding] {
        var findings: [ObjectKey: Finding] = [:]
        for key in keys {
            let page = try await store.list(prefix: key.rawValue, after: nil, limit: 1)
            if let info = page.objects.first, info.key == key, info.restore != .none || listsTellRestores {
                findings[key] = .found(info)
            }
        }
        for (key, finding) in try await heads(keys.filter { findings[$0] == nil }) { findings[key] = finding }
        return findings
    }

    private var listsTellRestores: Bool { store.capabilities.restoresInLists == true }

    /// Those of the keys that a listing of their common folder has. It ends early when the folder turns out to hold far
    /// more than was known.
    private func listed(_ keys: Set<ObjectKey>) async throws -> [ObjectInfo] {
        let prefix = Self.commonFolder(of: keys)
        var pagesLeft = 2 * (knownObjects / Self.pageSize) + 2
        var found: [ObjectInfo] = []
        for try await objects in store.pages(prefix: prefix) {
            found += objects.filter { keys.contains($0.key) }
            pagesLeft -= 1
            if pagesLeft == 0 || found.count == keys.count { break }
        }
        return found
    }

    private func heads(_ keys: [ObjectKey]) async throws -> [(ObjectKey, Finding)] {
        let denied = DeniedObjects()
        return try await keys.concurrently(Self.headsInFlight) { key in
            switch try await denied.ask({ try await store.head(key) }) {
            case .success(let info): return (key, info.map(Finding.found) ?? .missing)
            case .failure(let error): return (key, .failed(error))
            }
        }
    }

    /// The longest beginning that all keys share, up to a `/`.
    static func commonFolder(of keys: Set<ObjectKey>) -> String {
        guard let first = keys.min()?.rawValue.utf8, let last = keys.max()?.rawValue.utf8 else { return "" }
        let shared = zip(first, last).prefix { $0 == $1 }.map(\.0)
        guard let slash = shared.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(decoding: shared[...slash], as: UTF8.self)
    }
}

extension ReadableStore {
    /// Whether what a listing tells of an object says if it can be read now: not of one that may be in an archive tier of
    /// INTELLIGENT_TIERING, nor of one whose restore the listing may leave out.
    func listingTellsAccess(to info: ObjectInfo) -> Bool {
        if info.storageClass == .intelligentTiering { return false }
        return !info.storageClass.isArchive || info.restore != .none || capabilities.restoresInLists == true
    }
}
