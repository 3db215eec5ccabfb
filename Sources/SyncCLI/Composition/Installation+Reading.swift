import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore

extension Installation {
    /// The configured store as it is, with retries, for what only reads: none is made in an empty place.
    /// - Parameter ledger: knows which store it is, and keeps what is learned of a server; `nil` where there is none.
    func makeReadStore(_ ledger: Ledger?) throws -> any ObjectStore {
        let store: any ObjectStore =
            switch settings.store {
            case .directory(let directory):
                LocalStore(
                    root: directory.path, now: time.now, restoreDuration: directory.restoreDuration,
                    access: .reads, memory: ledger)
            case .s3(let s3): try makeStore(s3, memory: ledger)
            }
        return retrying(store)
    }
}
