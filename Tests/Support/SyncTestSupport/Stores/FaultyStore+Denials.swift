package import SyncCore
import SyncSystem

extension FaultyStore {
    /// A store that denies some objects to whoever asks for them, and gives all others: the first ones that it is asked
    /// for, whichever those are.
    package static func denying(
        first count: Int, _ operation: StoreOperation, of base: any ObjectStore
    ) -> FaultyStore {
        let denied = Lock<Set<String>>([])
        return FaultyStore(base) { call in
            guard call.operation == operation else { return [] }
            let isDenied = denied.withLock { keys in
                if keys.count < count { keys.insert(call.key) }
                return keys.contains(call.key)
            }
            return isDenied ? [.failBefore(.accessDenied)] : []
        }
    }
}
