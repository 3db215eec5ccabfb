/// What a store can do, as far as it is known.
package struct StoreCapabilities: Hashable, Sendable {
    /// Who carries lifecycle rules out.
    package enum Lifecycle: Hashable, Sendable {
        /// The store does, by rules that are kept in it.
        case byRules
        /// Whoever uses the store: it keeps no rules (the embedded store).
        case byAgent
    }

    package var lifecycle: Lifecycle
    /// Whether listings tell of restores: `true` once one did, `nil` as long as none has.
    package var restoresInLists: Bool?
    /// Whether listings tell a digest of every object that is whole: one without is in doubt.
    package var digestsInLists: Bool
    /// Whether ``ObjectStore/link(to:lasting:)`` gives links.
    package var links: Bool
    /// How long every restore takes, where the store fixes that itself; `nil` where class and tier decide.
    package var restoreDuration: Duration?

    package init(
        lifecycle: Lifecycle = .byAgent, restoresInLists: Bool? = nil, digestsInLists: Bool = false,
        links: Bool = false,
        restoreDuration: Duration? = nil
    ) {
        self.lifecycle = lifecycle
        self.restoresInLists = restoresInLists
        self.digestsInLists = digestsInLists
        self.links = links
        self.restoreDuration = restoreDuration
    }
}
