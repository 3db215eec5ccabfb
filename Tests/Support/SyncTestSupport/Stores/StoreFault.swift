package import SyncCore

/// The functions of ``ObjectStore``.
package enum StoreOperation: String, Hashable, Sendable, CaseIterable {
    case check, put, head, get, list, delete, deleteMany, copy, restore, lifecycle, setLifecycle, link,
        removeLeftovers,
        uploadForm, takeBackUploads
}

/// One line of a script for ``FaultyStore``.
package struct StoreFault: Sendable {
    package enum Effect: Sendable {
        /// Throws without touching the store: the request never got there. Or this machine's file system said no, or
        /// the store's own record of the object.
        case failBefore(StoreError.Code, isOfThisMachine: Bool = false, isOfRecord: Bool = false)
        /// Does the work, then throws: the answer was lost.
        case failAfter(StoreError.Code)
        /// Waits at a gate before the work.
        case hold(Gate)
        /// Does something else before the work: what another program does at just that moment.
        case meanwhile(@Sendable () -> Void)
        /// Does something else after the work, before the answer is heard.
        case afterwards(@Sendable () -> Void)
        /// Of a HEAD: says that nothing is there, whatever is.
        case sayAbsent
    }

    package var operation: StoreOperation
    /// Only calls for this key (or prefix, of a listing); all when `nil`.
    package var key: String?
    /// Which of the matching calls, from 1.
    package var numbers: ClosedRange<Int>
    package var effect: Effect

    package init(
        _ operation: StoreOperation, key: String? = nil, numbers: ClosedRange<Int> = 1...Int.max, _ effect: Effect
    ) {
        self.operation = operation
        self.key = key
        self.numbers = numbers
        self.effect = effect
    }

    /// The n-th matching call only.
    package init(_ operation: StoreOperation, key: String? = nil, number: Int, _ effect: Effect) {
        self.init(operation, key: key, numbers: number...number, effect)
    }

    func matches(_ operation: StoreOperation, _ key: String) -> Bool {
        self.operation == operation && (self.key ?? key) == key
    }
}
