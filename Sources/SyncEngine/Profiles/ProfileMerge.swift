package import SyncCore
package import SyncLedger

/// Makes all of one profile another one's: its number and its events at once, archived photos one after the other, as
/// ``ArchivedPhotoMover`` moves them.
///
/// It may be stopped at any point and run again: once the merge is noted it stands, and `profiles migrate` goes on with it, too.
package struct ProfileMerge: Sendable {
    package struct Summary: Hashable, Sendable {
        package internal(set) var events = 0
        /// Archived photos that have got a key of the other profile.
        package internal(set) var moved = 0
        /// They are the other profile's all the same; their keys are not.
        package internal(set) var left: [ProfileMigration.Left] = []
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let book: ProfileBook
    private let agreement: MergeAgreement
    private let moves: MergedPhotos?
    private let time: TimeSource

    /// - Parameters:
    ///   - store: with retries.
    ///   - book: as it is before the merge.
    ///   - agreement: with the user's other machines.
    ///   - moves: finds what another machine has moved.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, book: ProfileBook, agreement: MergeAgreement,
        moves: MergedPhotos? = nil, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.book = book
        self.agreement = agreement
        self.moves = moves
        self.time = time
    }

    /// - Parameters:
    ///   - profile: as it stands in keys, of which nothing was merged elsewhere than here.
    ///   - other: as it stands in keys after all merges.
    ///   - isDryRun: finds out what would be done, and changes nothing. What the store denies is noted all the same:
    ///     the ledger has to be a copy.
    /// - Throws: ``MergeConflict``, and what the agreement throws, with nothing merged; ``StoreError`` when the store as a
    ///   whole cannot be used, ``LedgerError``, `CancellationError`.
    package func run(
        _ profile: String, into other: String, isDryRun: Bool, progress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> Summary {
        // Of what was merged before, a run that was killed may have left something.
        let earlier = book.keyNames(since: other).filter { $0.inBytes != other.inBytes }
        try await begin(profile, into: other, besides: earlier, isDryRun: isDryRun)
        let held = try await ProfileHoldings.of(
            profile, besides: earlier, book, ledger: ledger, store: store, keys: keys)
        var result = Summary(events: held.events)
        result.left = held.problems.map { ProfileMigration.Left(key: $0.key, reason: $0.reason) }
        var notes = book.notes
        notes.merges[profile.inBytes] = other
        if !isDryRun, let record = book.profiles.first(where: { $0.uuid.inBytes == other.inBytes }) {
            for spelling in held.spellings { _ = try await ledger { try $0.mapProfile(spelling, to: record) } }
        }
        let mover = ArchivedPhotoMover(store: store, ledger: ledger, keys: keys, book: book.with(notes), time: time)
        let denials = try await EarlierDenials(of: .profiles, in: ledger, time: time)
        let denied = DeniedObjects(denials)
        for (index, place) in denials.order(held.photos, by: { $0.key }).enumerated() {
            switch try await mover.move(place, to: other, denied, isDryRun: isDryRun) {
            case .moved: result.moved += 1
            case .left(let reason): result.left.append(ProfileMigration.Left(key: place.key, reason: reason))
            }
            progress(index + 1, held.photos.count)
        }
        if !isDryRun, let moved = moves?.lookup() {
            for photo in held.unlisted { _ = try await moved.follow(photo) }
        }
        return result
    }

    /// Notes the merge, where no other machine does the opposite: from then on it stands.
    private func begin(_ profile: String, into other: String, besides earlier: [String], isDryRun: Bool) async throws {
        let profiles = book.keyNames(since: profile) + earlier
        let isNoted = book.current(profile).inBytes == other.inBytes
        do {
            try await agreement.require(profiles, into: other, beside: book.notes.merges)
            if isDryRun { return }
            if !isNoted { try await ledger { try $0.announceMerge(of: profile, into: other) } }
            try await agreement.publish()
            try await agreement.require(profiles, into: other, beside: book.notes.merges)
        } catch {
            if !isDryRun, try await ledger.finish({ try $0.withdrawMerge() }), error is MergeConflict {
                // The other one may go on. Where the store is away now, the next pass tells it.
                try? await agreement.publish()
            }
            throw error
        }
        if !isNoted { try await ledger { try $0.mergeProfile(profile, into: other) } }
    }
}

/// What stands under a profile, and under those that were merged into it.
package struct ProfileHoldings: Sendable {
    package private(set) var events = 0
    /// As its events give it.
    package private(set) var spellings: [String] = []
    /// Events that were signed off.
    package private(set) var records = 0
    package private(set) var photos: [ArchivedPhotoPlace] = []
    package private(set) var problems: [ObjectProblem] = []
    /// Signed off, and not under their keys.
    private(set) var unlisted: [ObjectRecord] = []

    package var isEmpty: Bool { events == 0 && records == 0 && photos.isEmpty && problems.isEmpty }

    /// - Parameters:
    ///   - profile: as it stands in keys.
    ///   - others: whose archived photos are held, too; as they stand in keys.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package static func of(
        _ profile: String, besides others: [String] = [], _ book: ProfileBook, ledger: LedgerQueue,
        store: any ObjectStore, keys: KeyLayout
    ) async throws -> ProfileHoldings {
        let names = book.keyNames(since: profile)
        let group = Set(names.map(\.inBytes))
        let archived = group.union(others.map(\.inBytes))
        func isIn(_ text: String) -> Bool {
            book.givenKeyName(text).map { group.contains($0.inBytes) } ?? false
        }
        var held = ProfileHoldings()
        for use in try await ledger({ try $0.profileUses() }) {
            guard isIn(use.profile) || use.uuid.map({ group.contains($0.inBytes) }) ?? false else { continue }
            held.events += use.events
            held.spellings.append(use.profile)
        }
        held.records = try await ledger { try $0.signedOff(under: names) }
        // Keys of one profile come one after the other.
        var last: (profile: String, isIn: Bool)?
        func isHeld(_ place: ArchivedPhotoPlace) -> Bool {
            if let last, last.profile.inBytes == place.profile.inBytes { return last.isIn }
            let answer = book.givenKeyName(place.profile).map { archived.contains($0.inBytes) } ?? false
            last = (place.profile, answer)
            return answer
        }
        for try await page in store.listing(prefix: keys.galleryArchive) {
            held.photos += page.objects.compactMap { ArchivedPhotoPlace($0.key, of: keys) }.filter(isHeld)
            held.problems += page.problems.filter { ArchivedPhotoPlace($0.key, of: keys).map(isHeld) ?? false }
        }
        let listed = Set(held.photos.map(\.key) + held.problems.map(\.key))
        held.unlisted = try await ledger { ledger in
            try ledger.photosSignedOff(under: names + others).compactMap { record in
                guard let key = record.photo?.key, !listed.contains(key) else { return nil }
                return try ledger.object(key)
            }
        }
        return held
    }

    /// Those that were signed off, and that a machine has moved to another profile, are that one's.
    /// - Parameter isDryRun: they are not counted any more, and nothing is noted.
    package mutating func leaveOut(movedBy moves: MergedPhotos, isDryRun: Bool) async throws {
        let moved = moves.lookup()
        for photo in unlisted {
            let isElsewhere =
                try await isDryRun ? moved.find(photo) != nil : moved.follow(photo) != nil
            if isElsewhere { records -= 1 }
        }
    }
}
