import SyncCore

/// The objects of a listing, asked for in its order.
struct ObjectCursor {
    var pages: ObjectListing.AsyncIterator
    var page: ArraySlice<ObjectInfo> = []
    var isAtEnd = false

    /// - Parameter key: after those that were asked for before.
    mutating func object(at key: ObjectKey) async throws -> ObjectInfo? {
        while true {
            while let first = page.first {
                if first.key == key { return first }
                if key < first.key { return nil }
                page.removeFirst()
            }
            if isAtEnd { return nil }
            guard let next = try await pages.next() else {
                isAtEnd = true
                return nil
            }
            page = next.objects[...]
        }
    }
}
