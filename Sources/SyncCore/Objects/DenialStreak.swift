/// How many objects in a row a store has not given, to know when it is the store that gives none.
///
/// One that denies an object may give all others: each such is told, and ends nothing. A key that may list and not
/// read, or a login that stands before the store, denies them all, and would be asked a hundred thousand times.
package struct DenialStreak: Hashable, Sendable {
    /// Where none was given yet: more than the objects of somebody else that happen to come first, and few enough to be
    /// asked for in vain.
    package static let mostAtFirst = 20
    /// Where others were given: a folder may be closed, with all that is in it; or a right was taken back meanwhile.
    package static let mostInRow = 1_000

    private var count = 0
    private var hasGiven = false

    package init() {}

    package mutating func noteGiven() { (count, hasGiven) = (0, true) }

    /// Others are known to have been given: who goes on with what is left of an earlier run may meet at first only what
    /// was denied then.
    package mutating func noteGivenBefore() { hasGiven = true }

    /// A server in trouble gives one reason now and another one then: whichever it is, the object was not given.
    /// - Throws: the error as the store's own, when so many were denied that the next would be, too.
    package mutating func note(_ error: StoreError) throws(StoreError) {
        guard error.isDenial else { return }
        count += 1
        guard count >= (hasGiven ? Self.mostInRow : Self.mostAtFirst) else { return }
        var all = error
        all.key = nil
        all.message += "; \(count) objects in a row were denied, and no more of them are asked for"
        throw all
    }
}

extension StoreError {
    /// Of a request for one object: whether the reason may be one that all others meet, too. What this machine's file
    /// system denies costs no request, and a file may have rights of its own.
    package var isDenial: Bool {
        guard !isOfThisMachine else { return false }
        return switch code {
        case .accessDenied, .invalidResponse, .connectionLost, .throttled, .serverFailed: true
        default: false
        }
    }
}
