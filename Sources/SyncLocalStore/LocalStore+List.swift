import Glibc
package import SyncCore
import SyncSystem
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
            if walk.keys.isEmpty {
                try store.requireRoot("list")
                try store.requireReachable(store.layout.records.appending("x"), below: store.layout.records)
            }

            var page = ObjectPage(objects: [])
            for key in walk.keys.prefix(limit) {
                try flag.check()
                do {
                    if let info = try store.listed(key) { page.objects.append(info) }
                } catch let problem as FileError where !problem.isOfThisProcess && !problem.isMissing {
                    page.problems.append(
                        ObjectProblem(key: key, error: StoreError(problem, operation: "list", key: nil)))
                } catch let problem as StoreError where problem.code == .badDigest {
                    page.problems.append(ObjectProblem(key: key, error: problem))
                }
            }
            if walk.keys.count > limit {
                page.next = PageToken(rawValue: walk.keys[limit - 1].rawValue)
            }
            return page
        }
    }

    /// An object without its bytes is none. Where size and time of the file are not those of the record, the size is told
    /// as it is and no digest: ``head(_:)`` tells more.
    private func listed(_ key: ObjectKey) throws -> ObjectInfo? {
        // Deleted since its name was read: it is not in the page.
        guard let record = try record(key, "list") else { return nil }
        var info = record.info(key: key, at: now())
        switch try glance(at: record) {
        case .whole: break
        case .missing: return nil
        case .damaged, nil:
            guard let stamp = try Disk.stamp(layout.content(record)) else { return nil }
            info.size = stamp.size
            info.md5 = nil
            info.sha256 = nil
        }
        info.contentType = nil
        info.metadata = [:]
        return info
    }
}
