package import SyncCore
package import SyncLedger

/// Takes shares back: the store tells all machines of it, manifest and page go first, so that nobody finds the rest, then
/// everything else, and a listing proves that nothing is left. Until then the share counts as ending, and is tried again.
package struct ShareRemover: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let notes: ShareNotes
    private let lease: ShareLease
    private let guests: GuestIntake?

    /// - Parameter guests: `nil` where no share takes any.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, notes: ShareNotes, lease: ShareLease, guests: GuestIntake? = nil
    ) {
        self.store = store
        self.ledger = ledger
        self.notes = notes
        self.lease = lease
        self.guests = guests
    }

    /// Ends an open share, or goes on with one that ends. What guests have sent to it is kept on this machine.
    /// - Throws: ``StoreError`` when something of it is still in the store; ``ShareError/inOtherHands(_:)``: it ends as soon
    ///   as that process notices; ``ShareError/takenOver(_:)``: another machine has it, and sees to its end;
    ///   ``LedgerError``, `CancellationError`.
    package func run(_ id: ShareID, _ end: ShareEnd) async throws {
        _ = try await ledger { try $0.endShare(id, end) }
        try await lease.holding(id) { share in
            guard share.state.isEnding else { return }
            do {
                if share.state == .expiring { try await requireOwned(id) }
                try await remove(share)
            } catch ShareError.inOtherHands(let id) {
                // It is tried again as soon as that process is done.
                throw ShareError.inOtherHands(id)
            } catch ShareError.takenOver(let id) {
                throw ShareError.takenOver(id)
            } catch let error where !error.isOfLedgerOrStop {
                try await lease.note { ledger, owner, _ in
                    try ledger.noteShareUnended("\(error)", of: id, by: owner)
                }
                throw error
            }
            guard try await lease.note({ try $0.noteShareEnded(id, by: $1, at: $2) }) else {
                throw ShareError.inOtherHands(id)
            }
        }
    }

    /// Looks once more for objects of a share that is over: a put that was under way when it ended, of a process that was
    /// stopped, may have come to its end since.
    /// - Throws: ``StoreError`` when something is still there; what ``GuestIntake/take(_:_:)`` throws.
    func sweep(_ id: ShareID) async throws {
        try await ShareStorage(store: store).removeAll(ShareKeys(id), guests)
        try await guests?.takeUp(id)
    }

    /// A machine that has taken a share over may have given it another end since this one looked last. Where the store
    /// denies only this answer, it ends here: rather a share too few is seen than one too many.
    private func requireOwned(_ id: ShareID) async throws {
        do {
            guard let fate = try await notes.fate(of: id), case .takenOver = fate else { return }
        } catch let error as StoreError where error.mayConcernOneObject && !error.isTransient {
            return
        }
        throw ShareError.takenOver(id)
    }

    private func remove(_ share: ShareRecord) async throws {
        // What another machine has taken back, that one has told.
        let tells = share.state == .revoking && share.endedBy == nil
        try await ShareStorage(store: store).end(share.keys, guests, untoldAfter: { _ in true }) {
            if tells { try await notes.publishEnd(of: share.id, expiresAt: share.expiresAt) }
        }
    }
}

extension Error {
    /// Whether what keeps one share from its end need not keep others from theirs: a full store takes nothing, and
    /// deletes all the same.
    var mayConcernOneEnd: Bool { mayConcernOneItem || (self as? StoreError)?.code == .noSpace }
}

extension ShareStorage {
    /// How often what a listing shows is deleted before another attempt has to do it.
    private static let rounds = 3
    /// The same of what guests have sent, and go on to send while it is taken in.
    private static let guestRounds = 5

    /// Ends a share: its manifest and page go first, so that nobody gets to what is removed after them.
    /// - Parameter guests: `nil` leaves what guests have sent where it is.
    /// - Throws: as ``removeAll(_:_:)``.
    func end(_ keys: ShareKeys, _ guests: GuestIntake?) async throws {
        for key in [keys.manifest, keys.page] { try await store.delete(key) }
        try await removeAll(keys, guests)
    }

    /// Ends a share of which all machines are told first. Nobody's full store keeps it in sight: there it is removed
    /// first, and told as soon as it can be.
    /// - Parameter untoldAfter: what the store may have against telling for the share to be removed before.
    /// - Throws: as ``removeAll(_:_:)``, and what `publish` throws.
    func end(
        _ keys: ShareKeys, _ guests: GuestIntake?, untoldAfter: (StoreError) -> Bool,
        publishing publish: () async throws -> Void
    ) async throws {
        var isTold = true
        do {
            try await publish()
        } catch let error as StoreError where untoldAfter(error) {
            isTold = false
        }
        try await end(keys, guests)
        if !isTold { try await publish() }
    }

    /// Deletes all objects of a share until a listing shows none. What guests have sent goes last: it is no copy of
    /// anything, and only what was taken in, or refused, is deleted. Pages that are open go on sending meanwhile.
    /// - Precondition: the share's manifest is gone.
    /// - Parameter guests: `nil` leaves what guests have sent where it is.
    /// - Throws: ``StoreError`` when something is still there; what ``GuestIntake/take(_:_:)`` throws.
    func removeAll(_ keys: ShareKeys, _ guests: GuestIntake?) async throws {
        try await removeShared(keys)
        guard let guests else { return }
        for _ in 0..<Self.guestRounds {
            guard let taken = try await guests.takeLast(keys.id) else { return }
            try await remove(taken.settled, keys)
            if let failure = taken.failure { throw failure }
            // To read it may have taken long.
            try await removeShared(keys)
        }
        throw StoreError(
            .conflict, operation: "delete", key: keys.guestFolder,
            message: "guests send photos to the share while it is removed; it will be tried again")
    }

    /// Deletes what guests have sent, where it is what was seen before.
    private func remove(_ seen: Set<GuestObject>, _ keys: ShareKeys) async throws {
        for try await page in store.listing(prefix: keys.guestFolder) {
            let there = page.objects.map { GuestObject($0) } + page.problems.map { GuestObject($0) }
            let gone = there.filter { seen.contains($0) }.map(\.key)
            if gone.isEmpty { continue }
            let failures = try await store.delete(gone)
            if let failure = failures.min(by: { $0.key < $1.key })?.value { throw failure }
        }
    }

    /// Deletes all that is shared until a listing shows none of it.
    private func removeShared(_ keys: ShareKeys) async throws {
        var failure: StoreError?
        for _ in 0..<Self.rounds {
            var isEmpty = true
            failure = nil
            // What cannot be looked at is there, and has to go like the rest.
            for try await page in store.listing(prefix: keys.folder) {
                let found = page.keys.filter { !$0.isBelow(keys.guestFolder) }
                if found.isEmpty { continue }
                isEmpty = false
                let failures = try await store.delete(found)
                failure = failure ?? failures.min { $0.key < $1.key }?.value
            }
            if isEmpty { return }
        }
        throw failure
            ?? StoreError(
                .conflict, operation: "delete", key: keys.folder,
                message: "objects of the share are still there after they were deleted; it will be tried again")
    }
}
