import SyncConfig
import SyncCore
import SyncLedger

/// What to tell where nothing is known here of what the store has: the one home of it.
enum RebuildHint {
    /// `nil` where something is known here (of a rebuild that came to its end), or the store has no photos of this user, or cannot be asked now: whoever uses it
    /// next tells what is wrong with it. A machine that knows its store asks for nothing.
    static func text(_ workspace: Workspace) async throws -> String? {
        let user = workspace.settings.user
        if try await workspace.ledger({ try $0.catalogStanding().rebuildOf }) != nil {
            return """
                A rebuild was ended before all was known again: "sync-agent rebuild" goes on with it.
                """
        }
        let keys = try KeyLayout(user: user)
        guard try await workspace.ledger({ try $0.isNew() }) else { return nil }
        do {
            guard try await workspace.readStoreOnce().hasObjects(below: keys.photos) else { return nil }
        } catch is StoreError {
            return nil
        }
        return """
            The store has photos of \(user) already, and nothing is known of them here. "sync-agent rebuild" brings back their \
            names, vacations and shares; no photo is stored or downloaded for it.
            """
    }
}
