/// The pages of a listing, one after the other. A page is asked for when the one before it was taken, so that one page is
/// in memory at a time.
package struct ObjectPages: AsyncSequence, Sendable {
    package typealias Element = [ObjectInfo]

    package struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: ObjectPages
        private var token: PageToken?
        private var isAtEnd = false

        fileprivate init(_ pages: ObjectPages) {
            self.pages = pages
        }

        /// - Throws: ``StoreError``, `CancellationError`. After an error the same page is asked for again.
        package mutating func next() async throws -> [ObjectInfo]? {
            if isAtEnd { return nil }
            let page = try await pages.store.list(prefix: pages.prefix, after: token, limit: pages.limit)
            token = page.next
            isAtEnd = page.next == nil
            return page.objects
        }
    }

    fileprivate let store: any ObjectStore
    fileprivate let prefix: String
    fileprivate let limit: Int

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}

extension ObjectStore {
    /// The objects whose key begins with `prefix`, in byte order, a thousand a page (the most that S3 gives at once).
    package func pages(prefix: String) -> ObjectPages {
        ObjectPages(store: self, prefix: prefix, limit: 1_000)
    }
}
