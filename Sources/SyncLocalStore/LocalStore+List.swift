package import SyncCore
import SystemPackage

extension LocalStore {
    /// Opens only folders that can hold the prefix, and in large ones keeps at most `windowCapacity` entries in
    /// memory. The token is the last key of the page.
    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await perform("list", prefix) { store, flag in
            guard (1...1_000).contains(limit) else {
                throw StoreError(
                    .invalidRequest, operation: "list", key: prefix,
                    message: "a page has 1 to 1,000 objects, not \(limit)")
            }
            var walk = KeyWalk(
                prefix: prefix, after: after?.rawValue, limit: limit + 1, records: store.layout.records,
                capacity: store.windowCapacity, cache: after == nil ? nil : store.listing.withLock { $0 },
                check: flag.check)
            try walk.run()
            let window = walk.cache
            store.listing.withLock { $0 = window }
            if walk.keys.isEmpty { try store.requireRoot("list") }

            var page = ObjectPage(objects: [])
            for key in walk.keys.prefix(limit) {
                try flag.check()
                // Deleted since its name was read: it is not in the page.
                guard let record = try store.record(key, "list") else { continue }
                var info = record.info(key: key, at: store.now())
                info.contentType = nil
                info.metadata = [:]
                page.objects.append(info)
            }
            if walk.keys.count > limit {
                page.next = PageToken(rawValue: walk.keys[limit - 1].rawValue)
            }
            return page
        }
    }
}
