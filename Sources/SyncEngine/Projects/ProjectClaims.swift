import SyncCore
import SyncLedger

/// Of what is stored of projects, what other machines need, as far as anybody knows.
enum ProjectClaims: Sendable {
    /// - Parameters:
    ///   - named: what their catalogues name.
    ///   - own: versions that this machine has stored, or what was made of that.
    case known(named: Set<ObjectKey>, own: Set<ObjectKey>)
    case unread(String)

    /// Asks the catalogues of other machines.
    /// - Throws: ``LedgerError``, `CancellationError`.
    init(
        on keys: [ObjectKey], _ others: OtherReferences, _ ledger: LedgerQueue, _ store: any ReadableStore
    ) async throws {
        do {
            let named = try await others.named(among: keys)
            // Where no other machine has any of it, all of it goes, whosever it was.
            let makers = try await VersionMakers(store: store, ledger: ledger).makers(of: keys, asks: !named.isEmpty)
            self = .known(named: named, own: Set(makers.filter { $0.value == .this }.keys))
        } catch let error as CancellationError {
            throw error
        } catch let error as LedgerError {
            throw error
        } catch {
            self = .unread("\(error)")
        }
    }
}

extension ProjectRemover.Target {
    func weighed(by claims: ProjectClaims) -> Self {
        if keys.isEmpty { return self }
        var target = self
        switch claims {
        case .known(let named, let own):
            let isElsewhere = keys.contains { named.contains($0) }
            // No catalogue tells of versions that are no file's. Where another machine has the project, those that are not
            // this one's for certain stay: that one would call them lost. It deletes them with the project.
            target.needed = keys.filter {
                named.contains($0) || isElsewhere && $0.isProjectVersion && !own.contains($0)
            }
            let needed = Set(target.needed)
            target.keys.removeAll { needed.contains($0) }
            target.own = own.intersection(target.keys)
        case .unread(let reason):
            target.doubt =
                "whether another machine needs what is stored of it is not known: \(reason); nothing was deleted "
                + "now. Give sync-agent projects delete again"
        }
        return target
    }
}
