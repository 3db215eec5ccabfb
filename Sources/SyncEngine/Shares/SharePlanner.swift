import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Takes orders for shares: finds what can be shared and what is shared already, and writes it down.
package struct SharePlanner: Sendable {
    private static let daySeconds: TimeInterval = 86_400
    private static let companionsNamed = 3

    private let store: (any ObjectStore)?
    private let ledger: LedgerQueue
    private let reducer: any PhotoReducer
    private let maker: any SharedCopyMaker
    private let pool: BlockingPool
    private let lease: ShareLease
    private let maximumPhotos: Int
    private let expireDays: Int
    private let time: TimeSource

    /// - Parameters:
    ///   - store: `nil` where nothing is going to be published.
    ///   - maker: the one that will make the copies.
    ///   - pool: for reading photos.
    ///   - expireDays: how long a share lasts unless told.
    package init(
        store: (any ObjectStore)?, ledger: LedgerQueue, reducer: any PhotoReducer, maker: any SharedCopyMaker,
        pool: BlockingPool, lease: ShareLease, maximumPhotos: Int, expireDays: Int, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.reducer = reducer
        self.maker = maker
        self.pool = pool
        self.lease = lease
        self.maximumPhotos = maximumPhotos
        self.expireDays = expireDays
        self.time = time
    }

    /// Finds out what an order would come to. Photos that were not read yet are read.
    /// - Throws: ``ShareError``, ``LedgerError``, `CancellationError`.
    package func propose(_ order: ShareOrder) async throws -> ShareProposal {
        let vacation = order.vacation
        let choice = try await choose(order)
        let (folder, selection, quality) = (vacation.folder, order.selection, order.quality)
        let now = time.now()
        let existing = try await ledger { ledger in
            try ledger.openShare(of: folder, selection: selection, quality: quality, expiringAfter: now)
        }
        let expiresAt =
            order.expiresAt ?? existing?.expiresAt ?? now.addingTimeInterval(Double(expireDays) * Self.daySeconds)
        let isLonger = existing.map { $0.expiresAt < expiresAt && !$0.expiresAt.isSameInLedger(as: expiresAt) } ?? true
        var notes = Self.notesOnGone(from: vacation)
        notes += Self.notes(on: choice.companions)
        if order.tellsNames ?? existing?.tellsNames ?? false {
            notes.append("The names of the files are told (--original-names).")
        }
        let takesGuests = order.takesGuests ?? existing?.takesGuests ?? false
        if takesGuests {
            notes.append(
                "Whoever has the link may add photos, up to \(GuestRules.mostPhotos); you decide which of them are kept (--guests)."
            )
        }
        notes += isLonger ? try await requireRulesAllow(expiresAt, createdAt: existing?.createdAt ?? now) : []
        notes += try await notesOnOthers(of: Set(choice.items.map(\.md5)), besides: folder)
        if let existing { notes += try await notesOnTwins(of: existing, at: now) }
        let draft = ShareDraft(
            folder: folder, selection: selection, quality: quality,
            location: ShareManifestRules.line(vacation.location), startDate: vacation.startDate,
            endDate: vacation.endDate,
            sharedBy: order.isAnonymous
                ? nil : (order.sharedBy ?? existing?.sharedBy ?? order.usualSharer).map(ShareManifestRules.line),
            expiresAt: expiresAt, tellsNames: order.tellsNames ?? existing?.tellsNames ?? false,
            takesGuests: takesGuests,
            photos: choice.items.map {
                ShareDraft.Photo(
                    md5: $0.md5, path: $0.photo.path, sourceKey: $0.photo.object?.key, takenAt: $0.photo.takenAt,
                    isLocal: $0.photo.state.isOnDisk)
            })
        let rows = try await ledger { ledger in try existing.map { try ledger.sharePhotos($0.id) } ?? [] }
        let (items, refused, unfit) = try await parted(choice.items, rows)
        let stored = Set(rows.filter { $0.copy != nil || $0.isFinal }.map(\.md5))
        let archived = items.filter { !stored.contains($0.md5) && $0.photo.state == .missing }.compactMap { item in
            item.photo.object.flatMap { $0.isReadable(at: now) ? nil : $0.key }
        }
        return ShareProposal(
            order: order, items: items, skipped: choice.skipped + refused, refused: refused, existing: existing,
            change: Self.change(of: existing, rows, to: draft, without: unfit), archived: archived,
            notes: notes, draft: draft)
    }

    /// What of an order can be shown, and what a person should know of the rest. No share is made of it.
    /// - Throws: ``ShareError``, `CancellationError`.
    package func content(
        of order: ShareOrder
    ) async throws -> (items: [ShareProposal.Item], skipped: [ShareProposal.Skipped], notes: [String]) {
        let choice = try await choose(order)
        let (items, refused, _) = try await parted(choice.items, [])
        return (
            items, choice.skipped + refused, Self.notesOnGone(from: order.vacation) + Self.notes(on: choice.companions)
        )
    }

    /// Writes a share down, or brings the one that there is up to the proposal, and takes its lease. From here on
    /// it is carried out whatever happens to this process.
    /// - Throws: ``ShareError/inOtherHands(_:)``, also when another process has just made the same; ``LedgerError``.
    package func accept(_ proposal: ShareProposal) async throws -> ShareID {
        if let existing = proposal.existing {
            try await lease.revise(existing.id, proposal.draft)
            return existing.id
        }
        var generator = SystemRandomNumberGenerator()
        let id = ShareID(using: &generator)
        if let other = try await lease.make(id, proposal.draft, at: time.now()) {
            throw ShareError.inOtherHands(other)
        }
        return id
    }

    /// Lets go of a share that was accepted: whoever publishes shares goes on with it.
    package func release(_ id: ShareID) async throws {
        try await lease.release(id)
    }

    // MARK: What is shared

    private func choose(_ order: ShareOrder) async throws -> Choice {
        let photos = order.vacation.photos
        if let selection = order.selection, selection.last >= photos.count {
            throw ShareError.noSuchNumber(selection.last, photos: photos.count)
        }
        let chosen = photos.enumerated().filter { order.selection?.contains($0.offset) ?? true }
        // Known before anything is read: thousands of photos are not read to be refused.
        let beside = order.selection == nil ? PhotoUnit.companions(among: photos.map(\.path)) { _ in true } : []
        let possible = chosen.count { photo in
            !beside.contains(photo.element.path) && photo.element.object.map(Self.isShared) ?? true
        }
        guard possible <= maximumPhotos else { throw ShareError.tooMany(possible, limit: maximumPhotos) }
        var candidates: [(number: Int, photo: VacationPhoto, kind: Kind)] = []
        for (number, photo) in chosen { candidates.append((number, photo, try await check(photo))) }
        // Who chooses by numbers gets what was chosen.
        let pictures = Set(candidates.filter(\.kind.isPicture).map(\.photo.path))
        let companions =
            order.selection == nil
            ? PhotoUnit.companions(among: candidates.map(\.photo.path)) { pictures.contains($0) } : []
        var items: [ShareProposal.Item] = []
        var skipped = try await failures(of: order)
        var seen: [MD5Digest: String] = [:]
        for (number, photo, kind) in candidates where !companions.contains(photo.path) {
            switch kind {
            case .unfit(let reason): skipped.append(ShareProposal.Skipped(number: number, photo: photo, reason: reason))
            case .picture(let md5, let film):
                if let other = seen.updateValue(photo.name, forKey: md5) {
                    skipped.append(
                        ShareProposal.Skipped(number: number, photo: photo, reason: "it is the same photo as \(other)"))
                    continue
                }
                items.append(
                    ShareProposal.Item(
                        number: number, photo: photo, md5: md5, film: film, bytes: Self.bytes(of: photo, order.quality))
                )
            }
        }
        guard items.count <= maximumPhotos else { throw ShareError.tooMany(items.count, limit: maximumPhotos) }
        let (bytes, limit) = (items.reduce(0) { $0 + $1.bytes }, ShareManifestRules.maximumTotalSize)
        guard bytes <= limit else { throw ShareError.tooLarge(bytes, limit: limit) }
        return Choice(
            items: items, skipped: skipped, companions: candidates.filter { companions.contains($0.photo.path) })
    }

    /// The photos that cannot be stored. They have no numbers, and whoever chooses by numbers has not chosen them.
    private func failures(of order: ShareOrder) async throws -> [ShareProposal.Skipped] {
        let photos = order.selection == nil ? order.vacation.failures : []
        if photos.isEmpty { return [] }
        return try await ledger { ledger in
            try photos.map { photo -> ShareProposal.Skipped in
                var why: String?
                try ledger.photos(at: photo.path) { why = $0.why }
                return ShareProposal.Skipped(
                    number: nil, photo: photo,
                    reason: "cannot be stored: \(why ?? "sync-agent status and its path tell why")")
            }
        }
    }

    private struct Choice {
        var items: [ShareProposal.Item]
        var skipped: [ShareProposal.Skipped]
        /// Left out, since others get the photo that each belongs to.
        var companions: [(number: Int, photo: VacationPhoto, kind: Kind)]
    }

    private enum Kind {
        case picture(MD5Digest, FilmType?)
        case unfit(String)

        var isPicture: Bool { if case .picture = self { true } else { false } }
    }

    private func check(_ photo: VacationPhoto) async throws -> Kind {
        if let object = photo.object {
            guard Self.isShared(object) else { return .unfit(Self.unfit(object.contentType)) }
            if let reason = Self.tooLarge(photo, object.contentType, stored: object.size) { return .unfit(reason) }
            if let md5 = photo.md5 ?? object.md5 { return .picture(md5, FilmType(contentType: object.contentType)) }
        }
        if photo.state == .lost { return .unfit("it is lost: neither this machine nor the store has it") }
        guard photo.state != .missing else {
            return .unfit("it is not on this machine, and not known to be a photo or a film")
        }
        do {
            let examined = try await pool.run { [reducer] in try reducer.examine(photo.path) }
            guard MediaType.isShared(examined.type.name) else { return .unfit(Self.unfit(examined.type.name)) }
            if let reason = Self.tooLarge(photo, examined.type.name, stored: nil) { return .unfit(reason) }
            return .picture(examined.digest.md5, FilmType(contentType: examined.type.name))
        } catch let error as PhotoError {
            return .unfit("\(error)")
        }
    }

    /// Why a film is not shared, before it is read, or brought back from the archive for money.
    private static func tooLarge(_ film: VacationPhoto, _ type: String, stored: Int64?) -> String? {
        guard FilmType(contentType: type) != nil else { return nil }
        if film.state == .missing, let stored, stored > SharedCopyWork.mostBytes {
            return
                "a film of more than \(SharedCopyWork.mostBytes >> 20) MiB that is not on this machine cannot be shared"
        }
        return SharedCopyWork.refusal(ofFilmOf: film.stamp.size)
    }

    /// Those that can be made ready, those that cannot, and what these are.
    private func parted(
        _ items: [ShareProposal.Item], _ rows: [SharePhoto]
    ) async throws -> (items: [ShareProposal.Item], refused: [ShareProposal.Skipped], unfit: Set<MD5Digest>) {
        let refusals = try await refusals(of: items, rows)
        let refused = items.compactMap { item in
            refusals[item.md5].map { ShareProposal.Skipped(number: item.number, photo: item.photo, reason: $0) }
        }
        return (items.filter { refusals[$0.md5] == nil }, refused, Set(refusals.keys))
    }

    /// Why some cannot be made ready: what the share noted of them, and what of films on the disk can be known before.
    private func refusals(of items: [ShareProposal.Item], _ rows: [SharePhoto]) async throws -> [MD5Digest: String] {
        let known = Dictionary(
            rows.sorted { $0.position == nil && $1.position != nil }.map { ($0.md5, $0) }, uniquingKeysWith: { $1 })
        var refusals: [MD5Digest: String] = [:]
        for item in items {
            if let row = known[item.md5], row.copy != nil || row.isFinal {
                refusals[item.md5] = row.failure
            } else if item.photo.state.isOnDisk, let film = item.film {
                refusals[item.md5] = try await refusal(of: item.photo.path, as: film)
            }
        }
        return refusals
    }

    private func refusal(of film: FilePath, as type: FilmType) async throws -> String? {
        do {
            try await pool.run { [maker] in try maker.requireSharable(film: film, as: type) }
            return nil
        } catch let error as PhotoError {
            // What may pass is met again, or not, when the film is sent.
            return error.isPermanent ? "\(error)" : nil
        }
    }

    /// A trip that was archived may be shared, and a folder that is empty by mistake must not pass for one that is not.
    private static func notesOnGone(from vacation: Vacation) -> [String] {
        guard vacation.gone > 0 else { return [] }
        let (folder, count) = (vacation.folder.string, vacation.gone.counted("photo"))
        return [
            vacation.photos.allSatisfy { !$0.state.isOnDisk }
                ? "No photo is left in \(folder). Shared is what the store has of those that were there: \(count)."
                : "Gone from \(folder), and not shared: \(count)."
        ]
    }

    private static func notes(on companions: [(number: Int, photo: VacationPhoto, kind: Kind)]) -> [String] {
        let left = companions.filter(\.kind.isPicture)
        if left.isEmpty { return [] }
        let names = left.prefix(companionsNamed).map { "\($0.photo.name) (\($0.number))" }.joined(separator: ", ")
        let rest = left.count > companionsNamed ? " and \(left.count - companionsNamed) more" : ""
        return ["Not shared, since the photo that each belongs to is: \(names)\(rest). --photos shares them by number."]
    }

    private static func isShared(_ object: ObjectRecord) -> Bool { MediaType.isShared(object.contentType) }

    private static func unfit(_ type: String) -> String {
        "photos are shared, and films in MP4 and QuickTime (this is \(type)): what others would tell of you cannot be taken "
            + "out"
    }

    private static func bytes(of photo: VacationPhoto, _ quality: ShareQuality) -> Int64 {
        let stored = photo.object?.size
        return quality == .full && photo.state.isOnDisk ? photo.stamp.size : stored ?? photo.stamp.size
    }

    private static func change(
        of existing: ShareRecord?, _ rows: [SharePhoto], to draft: ShareDraft, without refused: Set<MD5Digest>
    ) -> ShareProposal.Change {
        guard let existing else { return .new }
        guard existing.state == .live else { return .goesOn }
        let shared = rows.filter { $0.position != nil }
        let isSame =
            existing.step != .publish && shared.map(\.md5) == draft.photos.map(\.md5)
            && !shared.contains { $0.failure != nil && !$0.isFinal }
            && !zip(shared, draft.photos).contains { $0.isDatedAnew(by: $1.takenAt) }
            && existing.location == draft.location && existing.startDate == draft.startDate
            && existing.endDate == draft.endDate && existing.sharedBy == draft.sharedBy
            && existing.expiresAt.isSameInLedger(as: draft.expiresAt) && existing.tellsNames == draft.tellsNames
            && existing.takesGuests == draft.takesGuests
        if isSame { return .none }
        let (before, after) = (Set(shared.map(\.md5)), Set(draft.photos.map(\.md5)))
        return .update(
            added: after.subtracting(before).subtracting(refused).count, removed: before.subtracting(after).count)
    }

    // MARK: Other shares

    /// A folder that was renamed, or copied, makes another share; the first one goes on to show what it shows.
    private func notesOnOthers(of photos: Set<MD5Digest>, besides folder: FilePath) async throws -> [String] {
        try await ledger { ledger in
            try ledger.unendedShares().filter { $0.state.isOpen && $0.folder != folder }.compactMap { share in
                let shown = try ledger.sharePhotos(share.id).filter { $0.position != nil }.map(\.md5)
                let same = photos.intersection(shown).count
                guard same > 0 else { return nil }
                return
                    "\(same.counted("of these photos is", "of these photos are")) shared already from another folder, "
                    + "\(share.folder.string): share \(share.id) goes on until \(share.expiresAt.formatted(.iso8601)). When that folder was renamed, take it "
                    + "back with sync-agent shares --revoke \(share.id)"
            }
        }
    }

    /// A rebuild may have found several live ones of the same. Each has a link that somebody was sent, and an end; what is
    /// ordered is ordered of one.
    private func notesOnTwins(of existing: ShareRecord, at now: Date) async throws -> [String] {
        try await ledger { ledger in
            try ledger.unendedShares().filter { share in
                share.state.isOpen && share.id != existing.id && share.folder == existing.folder
                    && share.selection == existing.selection && share.quality == existing.quality
                    && share.expiresAt > now
            }.map { share in
                "There is another link to the same: share \(share.id) stays as it is until "
                    + "\(share.expiresAt.formatted(.iso8601)). sync-agent shares --revoke \(share.id) takes it back"
            }
        }
    }

    // MARK: The backstop

    /// A rule of the bucket that removes shares earlier would break the link's word. What the configuration wants may not
    /// have been applied, so that the rules themselves are asked.
    /// - Returns: what a person should know when the rules cannot be read.
    private func requireRulesAllow(_ end: Date, createdAt: Date) async throws -> [String] {
        guard let store, store.capabilities.lifecycle == .byRules else { return [] }
        let rules: LifecycleConfiguration
        do {
            rules = try await store.lifecycle()
        } catch let error as StoreError where error.code == .unsupported {
            return []
        } catch let error as StoreError {
            return ["Whether a rule of the bucket removes the share earlier is not known: \(error)"]
        }
        let limits = rules.rules.compactMap(\.own).filter { ShareKeys.prefix.hasPrefix($0.prefix) }
            .compactMap(\.expireAfterDays)
        let days = Int((end.timeIntervalSince(createdAt) / Self.daySeconds).rounded(.up))
        if let limit = limits.min(), days > limit { throw ShareError.endsTooLate(days: days, rule: limit) }
        return []
    }
}

extension ShareManifestRules {
    /// A location or a name as others may see it: one line, which no reader of manifests refuses.
    static func line(_ text: String) -> String { String(plain(text).prefix(100)) }
}

extension Date {
    /// Whether both are the same millisecond, as the ledger keeps times.
    fileprivate func isSameInLedger(as other: Date) -> Bool { abs(timeIntervalSince(other)) < 0.001 }
}
