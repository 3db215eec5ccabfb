/// The objects of a listing, page by page, for those who go on where an object cannot be looked at.
package struct ObjectPages: AsyncSequence, Sendable {
    package typealias Element = [ObjectInfo]

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var listing: ObjectListing.AsyncIterator

        /// - Throws: ``StoreError``, `CancellationError`. After an error the same page is asked for again.
        package mutating func next() async throws -> [ObjectInfo]? {
            try await listing.next()?.objects
        }
    }

    fileprivate let listing: ObjectListing

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(listing: listing.makeAsyncIterator())
    }
}

/// The pages of a listing, one after the other. A page is asked for when the one before it was taken, so that one page is
/// in memory at a time.
package struct ObjectListing: AsyncSequence, Sendable {
    package typealias Element = ObjectPage

    package struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: ObjectListing
        private var token: PageToken?
        private var isAtEnd = false

        fileprivate init(_ pages: ObjectListing) {
            self.pages = pages
        }

        /// - Throws: ``StoreError``, `CancellationError`. After an error the same page is asked for again.
        package mutating func next() async throws -> ObjectPage? {
            if isAtEnd { return nil }
            let page = try await pages.store.list(prefix: pages.prefix, after: token, limit: pages.limit)
            token = page.next
            isAtEnd = page.next == nil
            return page
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
        ObjectPages(listing: listing(prefix: prefix))
    }

    /// The same, with what could not be looked at.
    package func listing(prefix: String) -> ObjectListing {
        ObjectListing(store: self, prefix: prefix, limit: 1_000)
    }
}
