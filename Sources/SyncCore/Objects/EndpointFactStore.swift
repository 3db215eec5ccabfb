package import FoundationEssentials

/// Where a store keeps what has to survive the process: uploads that it began and has not ended, and what it learned of
/// its server. All calls block shortly; the store makes them on threads of its own. A failed call costs at most a later
/// request more, so none throws.
package protocol EndpointFactStore: Sendable {
    /// Notes an upload in parts before its first part is sent.
    func noteUpload(_ upload: StoredUpload)
    /// The upload is complete, or its parts are gone.
    func forgetUpload(_ id: String)
    /// Those that were noted and not forgotten, the oldest first.
    func unfinishedUploads() -> [StoredUpload]

    /// What was remembered under these names, for the server at `place`.
    func facts(of place: String) -> [String: String]
    func remember(_ fact: String, value: String, of place: String)
}

/// An upload in parts, as the store names it.
package struct StoredUpload: Hashable, Sendable {
    package var id: String
    package var key: ObjectKey
    package var began: Date

    package init(id: String, key: ObjectKey, began: Date) {
        self.id = id
        self.key = key
        self.began = began
    }
}

/// Who remembers which embedded store it is that the objects are in. It outlives the store's process; all calls block
/// shortly.
package protocol StoreIDKeeper: Sendable {
    /// The id of the store; `nil` when none was ever noted.
    func storeID() throws -> String?
    /// Whether anything is known to be stored, or a store was ever noted: then a store that is missing is away.
    func knowsStore() throws -> Bool
    /// Notes the id, unless another one is noted already.
    /// - Returns: the one that is noted now.
    func bindStoreID(_ id: String) throws -> String
}
