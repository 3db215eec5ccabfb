import SyncCore
import SyncLedger

/// Of what is stored of projects, what other machines need, as far as anybody knows.
enum ProjectClaims: Sendable {
    /// - Parameters:
    ///   - named: what their catalogues name.
    ///   - own: what this machine has stored, or what was made of that.
    case known(named: Set<ObjectKey>, own: Set<ObjectKey>)
    case unread(String)

    /// Asks the catalogues of other machines.
    /// - Throws: ``LedgerError``, `CancellationError`.
    init(on keys: [ObjectKey], _ others: OtherReferences, _ ledger: LedgerQueue) async throws {
        do {
            let named = try await others.named(among: keys)
            let own = try await ledger { ledger in
                let known = try keys.compactMap { try ledger.object($0) }
                return Set(keys.filter { key in known.contains { $0.key == key || $0.mayBeSetAside(as: key) } })
            }
            self = .known(named: named, own: own)
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
            // No catalogue tells of versions that are no file's. Where another machine has the project, those that this
            // ledger does not know are that one's: it would call them lost.
            target.needed = keys.filter {
                named.contains($0) || isElsewhere && $0.isProjectVersion && !own.contains($0)
            }
            let needed = Set(target.needed)
            target.keys.removeAll { needed.contains($0) }
        case .unread(let reason):
            target.doubt =
                "whether another machine needs what is stored of it is not known: \(reason); nothing was deleted "
                + "now. Give sync-agent projects delete again"
        }
        return target
    }
}

extension ObjectRecord {
    /// Whether a key may be that of the version to which it went when another machine stored its own under its key.
    fileprivate func mayBeSetAside(as version: ObjectKey) -> Bool {
        guard let md5, let file = key.versionedFile else { return false }
        return version.mayBeVersion(of: md5) && file.isVersion(version)
    }
}
