import FoundationEssentials
import SyncCore
import SyncLedger

/// What the store says of shares of which several machines know.
struct ShareNoteReader: Sendable {
    /// What a listing tells of a share.
    struct Standing: Hashable, Sendable {
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
    func notice() async throws -> [ShareNotes.Noticed] {
        let open = try await ledger { try $0.unendedShares() }.filter(\.state.isOpen)
        if open.isEmpty { return [] }
        let standings = try await standings()
        var noticed: [ShareNotes.Noticed] = []
        var untold: StoreError?
        for share in open {
            do {
                guard let standing = standings[share.id], let fate = try await follow(standing, share) else { continue }
                noticed.append(ShareNotes.Noticed(share: share, fate: fate))
            } catch let error as StoreError where error.mayConcernOneObject {
                untold = untold ?? error
            }
        }
        if let untold { throw untold }
        return noticed
    }

    /// - Throws: as ``notice()``.
    func follow(_ share: ShareRecord) async throws -> ShareNotes.Fate? {
        var standing = Standing(isEnded: try await store.head(keys.shareEnd(share.id)) != nil)
        if let ownership = share.ownership, try await store.head(keys.shareOwner(share.id, ownership + 1)) != nil {
            standing.owner = ownership + 1
        }
        return try await follow(standing, share)
    }

    private func follow(_ standing: Standing, _ share: ShareRecord) async throws -> ShareNotes.Fate? {
        let id = share.id
        if standing.isEnded, let machine = try await machine(thatEnded: id) {
            try await ledger.finish { _ = try $0.endShare(id, .revoked, by: machine) }
            return .revoked(by: machine)
        }
        guard let ownership = share.ownership, standing.owner > ownership else { return nil }
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
    func standings() async throws -> [ShareID: Standing] {
        var found: [ShareID: Standing] = [:]
        for try await page in store.listing(prefix: keys.shareNotes) {
            for key in page.objects.map(\.key) + page.problems.map(\.key) {
                if let id = keys.shareID(ofEnd: key) {
                    found[id, default: Standing()].isEnded = true
                } else if let (id, number) = keys.shareOwner(of: key) {
                    found[id, default: Standing()].owner = max(number, found[id]?.owner ?? 0)
                }
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

    func thisMachine() async throws -> String { try await ledger.finish { try $0.catalogStanding().machine } }

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
