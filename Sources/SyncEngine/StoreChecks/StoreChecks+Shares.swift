package import SyncCore
import SyncDigest

/// What others see of shares.
extension StoreChecks {
    /// Whether everybody can read what guests have sent, where everybody can read what is shared. It is tried with
    /// objects of a share that is none.
    /// - Parameter fetch: reads an object as anyone would, without credentials; `nil` where nothing is given.
    package func guestPhotos(_ fetch: @Sendable (ObjectKey) async throws -> [UInt8]?) async throws -> Finding {
        try await finding("guests") { name in
            var generator = SystemRandomNumberGenerator()
            let share = ShareID(using: &generator)
            let keys = ShareKeys(share)
            // Should this doctor be killed, the next one finds them by it.
            _ = try await stored(ScratchFolder.note(of: share))
            for key in ScratchFolder.trials(keys) {
                _ = try await store.put(
                    ObjectBody(bytes: Self.bytes, digest: ContentDigest(of: Self.bytes)), at: key,
                    attributes: Self.attributes, condition: .ifAbsent)
            }
            do {
                guard try await fetch(keys.guest(0)) != Self.bytes else {
                    return .wrong(
                        name, "whoever has the link of a share can read what guests have sent, before you accept it",
                        remedy: "open pages and photos of shares/ alone, and not its folders guests: a bucket by the "
                            + "policy public-shares.json, a web server by its configuration")
                }
                // By an address below which nothing is seen, nothing is proven of what is not to be seen.
                guard try await fetch(keys.page) == Self.bytes else {
                    return .limited(
                        name,
                        "whether others can read what guests have sent could not be tried: they can read no page of a "
                            + "share below share.public_base_url either",
                        instead: "see that it is the address of the store, with store.prefix, and that everybody may "
                            + "read the pages of shares/ there, and run doctor again")
                }
                return .ok(name, "nobody else can read what guests have sent")
            } catch let error as StoreError {
                return .limited(
                    name, "whether others can read what guests have sent could not be tried: \(error.message)",
                    instead: "see that share.public_base_url can be reached from here, and run doctor again")
            }
        }
    }
}
