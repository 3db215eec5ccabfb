package import SyncCore

/// A store whose listings tell digests of what is whole, as those of the embedded store do.
package struct TellingStore: WrappedStore {
    package let base: any ObjectStore

    package init(base: any ObjectStore) {
        self.base = base
    }

    package var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.digestsInLists = true
        return capabilities
    }
}
