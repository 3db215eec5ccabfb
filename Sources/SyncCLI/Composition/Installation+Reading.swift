import SyncConfig
import SyncCore
import SyncEngine
import SyncLocalStore

extension Installation {
    /// The configured store as it is, with retries, for what only reads: none is made in an empty place.
    /// - Parameter memory: keeps what is learned of the server; `nil` where there is no ledger.
    func makeReadStore(memory: (any StoreMemory)?) throws -> any ObjectStore {
        let store: any ObjectStore =
            switch settings.store {
            case .directory(let directory):
                LocalStore(
                    root: directory.path, now: time.now, restoreDuration: directory.restoreDuration,
                    createsRoot: false)
            case .s3(let s3): try makeStore(s3, memory: memory)
            }
        return RetryingStore(store, time: time, logger: logger)
    }
}
