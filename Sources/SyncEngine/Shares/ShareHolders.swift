import FoundationEssentials
package import SyncCore
package import SyncLedger

/// What the machines of a user tell each other of shares through the store: that one was taken back, and who has one now.
/// Whatever a ledger believes, what a person has taken back is never published again, and a share has one owner at a time.
package struct ShareNotes: Sendable {
    /// What became of a share on another machine, by the name that people call it.
    package enum Fate: Hashable, Sendable {
        case revoked(by: String)
        /// It has the share from now on. Here nothing is known of it any more.
        case takenOver(by: String)
    }

    /// A share that was open here.
    package struct Noticed: Hashable, Sendable, CustomStringConvertible {
        package let share: ShareRecord
        package let fate: Fate

        package var description: String {
            let what = "share \(share.id) of \(share.location.escapingControls)"
            return switch fate {
            case .revoked(let machine): "\(what) was revoked on the machine \(machine.escapingControls)"
            case .takenOver(let machine):
                "\(what) was taken over by the machine \(machine.escapingControls), which goes on with it"
            }
        }
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let reader: ShareNoteReader
    private let rebuilt: RebuiltShares
    private let name: String
    private let time: TimeSource
    private let isCurrent: @Sendable (Ledger) throws -> Bool

    /// - Parameters:
    ///   - name: what people call this machine.
    ///   - isCurrent: as of ``ShareLease``: what was told in another store is not told where the shares are.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, name: String, time: TimeSource,
        isCurrent: @escaping @Sendable (Ledger) throws -> Bool = { _ in true }
    ) {
        self.isCurrent = isCurrent
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.name = name
        self.time = time
        reader = ShareNoteReader(store: store, ledger: ledger, keys: keys)
        rebuilt = RebuiltShares(store: store, ledger: ledger, keys: keys)
    }

    /// Notes what the machines of the user were told, and what came of it.
    /// - Throws: ``ShareError/storeMoved``: it was told in a store that was left meanwhile, and is noted of none.
    func noteTold(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await ledger.finish { [isCurrent] in
            guard try isCurrent($0) else { throw ShareError.storeMoved }
            try body($0)
        }
    }

    /// Whether this store was left by a move, and is not the same one under another name.
    func isStoreLeft() async throws -> Bool {
        try await StoreRecognition(store: store, ledger: ledger, keys: keys).isLeft()
    }

    /// Tells the machines of the user that a share is taken back: also a ledger that is put back, or comes from the catalogue, in
    /// which it is live. Two machines that take it back at one time mean the same.
    /// - Throws: ``StoreError`` when the store does not take it; ``LedgerError``, `CancellationError`.
    func publishEnd(of id: ShareID, expiresAt: Date) async throws {
        let end = EndedShare(
            id, endedAt: time.now(), expiresAt: expiresAt, machine: try await reader.thisMachine(), name: name)
        let (storage, key) = (ShareStorage(store: store), try keys.shareEnd(id))
        do {
            try await storage.put(text: end.encoded(), at: key, .ifAbsent)
        } catch let error as StoreError where error.code == .alreadyExists {
            // It was told by another, or by an attempt whose answer was lost; a store that only says so has to prove it.
            guard try await store.head(key) == nil else { return }
            try await storage.put(text: end.encoded(), at: key)
        }
    }

    /// - Throws: ``ShareError/over(_:)`` or ``ShareError/unseen(_:)`` for a share that has no manifest.
    func requireSeen(_ id: ShareID) async throws {
        if try await store.head(ShareKeys(id).manifest) != nil { return }
        throw try await store.head(keys.shareEnd(id)) != nil ? ShareError.over(id) : .unseen(id)
    }

    /// Follows what became of a share elsewhere, and tells the others of one that was taken up from a catalogue. What is in the
    /// store of one that was taken back is removed by whoever ends shares.
    /// - Throws: ``StoreError`` when that cannot be told; ``LedgerError``, `CancellationError`.
    func follow(_ id: ShareID) async throws -> Fate? { try await takeUp(id).fate }

    /// What became of a share elsewhere, also of one that is about to end here. Nobody is told anything.
    /// - Throws: ``StoreError`` when that cannot be told; ``LedgerError``, `CancellationError`.
    func fate(of id: ShareID) async throws -> Fate? {
        guard let share = try await ledger.finish({ try $0.share(id) }) else { return nil }
        return try await reader.follow(share)
    }

    /// As ``follow(_:)``.
    /// - Returns: also what of one that was taken up could not be held against its manifest, in plain words.
    func takeUp(_ id: ShareID) async throws -> (fate: Fate?, problem: String?) {
        guard let share = try await ledger.finish({ try $0.share(id) }) else { return (nil, nil) }
        if let fate = try await reader.follow(share) { return (fate, nil) }
        return (nil, share.ownership == nil ? try await claim(share) : nil)
    }

    /// Follows what became elsewhere of all that are open here, and tells the others nothing. Nothing is asked for where nothing
    /// is open.
    /// - Throws: as ``follow(_:)``.
    @discardableResult
    package func followAll() async throws -> [Noticed] { try await reader.followAll() }

    /// As ``followAll()``, and tells the others of those that were taken up.
    /// - Throws: as ``follow(_:)``.
    @discardableResult
    package func followAndClaimAll() async throws -> [Noticed] {
        let noticed = try await followAll()
        for share in try await ledger({ try $0.unendedShares() }) where share.state.isOpen && share.ownership == nil {
            try await claim(share)
        }
        return noticed
    }

    /// Tells the other machines that this one has a share from now on. An attempt whose answer was lost has done so.
    /// - Returns: what of it could not be held against its manifest, in plain words.
    /// - Throws: ``StoreError`` when the store does not take it; ``LedgerError``, `CancellationError`.
    @discardableResult
    private func claim(_ share: ShareRecord) async throws -> String? {
        let (id, machine) = (share.id, try await reader.thisMachine())
        while true {
            let (last, number) = try await reader.lastOwner(of: id)
            if case .success(let owner) = last, owner.machine == machine {
                // The machine that had it may have changed it since its catalogue was written. From here on it does not.
                let problem = share.state == .live ? try await rebuilt.check(share) : nil
                try await noteTold { try $0.noteOwnership(number, ofShare: id) }
                return problem
            }
            let note = ShareOwner(id, takenOverAt: time.now(), expiresAt: share.expiresAt, machine: machine, name: name)
            do {
                try await ShareStorage(store: store).put(
                    text: note.encoded(), at: keys.shareOwner(id, number + 1), .ifAbsent)
            } catch let error as StoreError where error.code == .alreadyExists {
                // Another one was faster. Whoever takes it over last has it.
                continue
            }
        }
    }
}

/// What the store says of shares of which several machines know.
struct ShareNoteReader: Sendable {
    /// What a listing tells of a share.
    struct Status: Hashable, Sendable {
        var isEnded = false
        /// The number of the last take-over; 0 without any.
        var owner = 0
    }

    private static let unknownMachine = "another one"

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout

    // MARK: What a ledger follows

    /// Follows what became of all shares elsewhere that are open here. One of which it cannot be told keeps none back.
    /// - Throws: ``StoreError`` when it cannot be told of one of them, or of all; ``LedgerError``, `CancellationError`.
    func followAll() async throws -> [ShareNotes.Noticed] {
        let open = try await ledger { try $0.unendedShares() }.filter(\.state.isOpen)
        if open.isEmpty { return [] }
        let statuses = try await statuses()
        var noticed: [ShareNotes.Noticed] = []
        var untold: StoreError?
        for share in open {
            do {
                guard let status = statuses[share.id], let fate = try await follow(status, share) else { continue }
                noticed.append(ShareNotes.Noticed(share: share, fate: fate))
            } catch let error as StoreError where error.mayConcernOneObject {
                untold = untold ?? error
            }
        }
        if let untold { throw untold }
        return noticed
    }

    /// - Throws: as ``followAll()``.
    func follow(_ share: ShareRecord) async throws -> ShareNotes.Fate? {
        var status = Status(isEnded: try await store.head(keys.shareEnd(share.id)) != nil)
        if let ownership = share.ownership, try await store.head(keys.shareOwner(share.id, ownership + 1)) != nil {
            status.owner = ownership + 1
        }
        return try await follow(status, share)
    }

    private func follow(_ status: Status, _ share: ShareRecord) async throws -> ShareNotes.Fate? {
        let id = share.id
        if status.isEnded, let machine = try await machine(thatEnded: id) {
            try await ledger.finish { _ = try $0.endShare(id, .revoked, by: machine) }
            return .revoked(by: machine)
        }
        guard let ownership = share.ownership, status.owner > ownership else { return nil }
        let (last, number) = try await lastOwner(of: id, after: ownership)
        guard let last else { return nil }
        if case .success(let owner) = last, try await owner.machine == thisMachine() {
            // A ledger of an earlier day does not know of its own take-over.
            try await ledger.finish { try $0.noteOwnership(number, ofShare: id) }
            return nil
        }
        try await ledger.finish { try $0.giveShareUp(id) }
        return .takenOver(by: (try? last.get().name) ?? Self.unknownMachine)
    }

    // MARK: What is there

    /// What the store has of ends and take-overs.
    /// - Throws: ``StoreError``, `CancellationError`.
    func statuses() async throws -> [ShareID: Status] {
        var found: [ShareID: Status] = [:]
        for key in try await store.all(below: keys.shareNotes).keys {
            if let id = keys.shareID(ofEnd: key) {
                found[id, default: Status()].isEnded = true
            } else if let (id, number) = keys.shareOwner(of: key) {
                found[id, default: Status()].owner = max(number, found[id]?.owner ?? 0)
            }
        }
        return found
    }

    /// What the store tells of the end of a share; `nil` when it does not tell any.
    /// - Throws: ``StoreError``, ``ShareNoteDamage``, `CancellationError`.
    func end(of id: ShareID) async throws -> EndedShare? { try await note(at: keys.shareEnd(id), of: id) }

    /// The last take-over after one, `nil` when there is none, and its number. What cannot be read is one all the same.
    /// - Throws: ``StoreError``, `CancellationError`.
    func lastOwner(
        of id: ShareID, after first: Int = 0
    ) async throws -> (last: Result<ShareOwner, any Error>?, number: Int) {
        var (last, number): (Result<ShareOwner, any Error>?, Int) = (nil, first)
        while true {
            do {
                guard let owner: ShareOwner = try await note(at: keys.shareOwner(id, number + 1), of: id) else {
                    return (last, number)
                }
                last = .success(owner)
            } catch let error where Self.isDamage(error) {
                last = .failure(error)
            }
            number += 1
        }
    }

    func thisMachine() async throws -> String { try await ledger.finish { try $0.catalogStatus().machine } }

    private func note<Note: ShareNote>(at key: ObjectKey, of id: ShareID) async throws -> Note? {
        do {
            return try Note(parsing: try await store.bytes(of: key, limit: ShareNoteLimits.maximumSize), of: id)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        }
    }

    /// That there is something counts, also where it cannot be read: rather a share too few is seen than one too many.
    private func machine(thatEnded id: ShareID) async throws -> String? {
        do {
            return try await end(of: id)?.name
        } catch let error where Self.isDamage(error) {
            return Self.unknownMachine
        }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        if error is ShareNoteDamage { return true }
        guard let error = error as? StoreError else { return false }
        return [.badDigest, .archived, .tooLarge].contains(error.code)
    }
}
