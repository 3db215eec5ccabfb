import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem

/// Finds the profiles that a command is about.
struct ProfileFinder {
    let book: ProfileBook
    let keys: KeyLayout
    private let workspace: Workspace
    private let opened: (any ObjectStore)?
    private let uses: [String]

    /// - Parameter access: `nil` where the store is asked only for what the ledger does not know.
    init(_ workspace: Workspace, _ access: LocalStoreAccess? = nil) async throws {
        let opened: (any ObjectStore)? = if let access { try await workspace.store(access) } else { nil }
        try await self.init(workspace, opened: opened)
    }

    private init(_ workspace: Workspace, opened: (any ObjectStore)?) async throws {
        let settings = workspace.settings.share
        self.workspace = workspace
        keys = try workspace.keys
        let watched = workspace.settings.watch.compactMap(\.profile)
        (book, uses) = try await workspace.ledger {
            (try $0.profileBook(settings), try $0.profileUses().map(\.profile) + watched)
        }
        self.opened = opened
    }

    /// With the profiles as they are by now.
    func anew() async throws -> ProfileFinder { try await ProfileFinder(workspace, opened: opened) }

    /// Of those that were opened for a change.
    var store: any ObjectStore {
        guard let opened else { preconditionFailure("it was made without a store") }
        return opened
    }

    /// - Returns: what stands in keys, before any merge.
    /// - Throws: ``CommandFailure`` unless exactly one profile is meant.
    func find(_ text: String) async throws -> String {
        var match = book.find(text, among: uses)
        if match == .none {
            // It may be known by its archived photos alone.
            let store = if let opened { opened } else { try await workspace.store(.reads) }
            var archived: Set<ByteString> = []
            for try await page in store.listing(prefix: keys.galleryArchive) {
                archived.formUnion(page.objects.compactMap { ArchivedPhotoPlace($0.key, of: keys)?.profile.inBytes })
            }
            match = book.find(text, among: uses + archived.sorted().map(\.string))
        }
        let name = text.escapingControls
        switch match {
        case .one(let id): return id
        case .several(let ids):
            let list = ids.map(\.escapingControls).joined(separator: ", ")
            throw CommandFailure.usage("\(name) may be any of these profiles; give its id: \(list)")
        case .orphan(let number):
            throw CommandFailure.noSuchPath(
                "\(number) has no profile; add it with: sync-agent profiles add \(number.e164.asShellWord)"
            )
        case .unread: throw CommandFailure.noSuchPath("\(name): \(book.obstacle)")
        case .none: throw CommandFailure.noSuchPath("no profile is known as \(name); see sync-agent profiles list")
        }
    }

    /// Tells the store's catalogue at once; where that cannot be done, the next pass makes up for it.
    func updateCatalog() async {
        do {
            let store = if let opened { opened } else { try await workspace.store(.writes) }
            try await workspace.updateCatalog(store)
        } catch {
            workspace.logger.warning("the catalogue is written by the next pass: \(error)")
        }
    }
}

extension Workspace {
    /// - Throws: ``CommandFailure`` while a cleanup is at work.
    func takeCleanupLock() async throws -> AgentLock {
        // It makes the folder of the lock.
        _ = try await ledger
        return try takeLockOfCleanup()
    }

    /// The same once a person has answered: no cleanup waits for that.
    /// - Throws: also ``CommandFailure`` when the ledger is about another store by then; what `question` throws.
    func takeCleanupLock(after question: () throws -> Void) async throws -> AgentLock {
        try await afterAsking {
            try question()
            return try takeLockOfCleanup()
        }
    }

    private func takeLockOfCleanup() throws -> AgentLock {
        do {
            return try installation.takeCleanupLock()
        } catch is AgentLock.Held {
            throw CommandFailure(.locked, "a cleanup is at work; wait for it, and run this again")
        }
    }
}
