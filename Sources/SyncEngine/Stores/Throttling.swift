import SyncCore
import SyncSystem

/// Whether a store asks to slow down (`SlowDown`, 429, 503). Those who send much look, and send less at once; what was
/// refused is sent again without them.
package final class Throttling: Sendable {
    private let isAsked = Lock(false)

    package init() {}

    func note(_ error: StoreError) {
        if error.code == .throttled { isAsked.withLock { $0 = true } }
    }

    /// Whether it has since the last call.
    func take() -> Bool {
        isAsked.withLock { isAsked in
            defer { isAsked = false }
            return isAsked
        }
    }
}
