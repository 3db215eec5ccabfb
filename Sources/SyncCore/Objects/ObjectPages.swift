/// The pages of a listing, one after the other. A page is asked for when the one before it was taken, so that one page is
/// in memory at a time.
package struct ObjectListing: AsyncSequence, Sendable {
    package typealias Element = ObjectPage

    package struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let pages: ObjectListing
        private var token: PageToken?
        private var isAtEnd = false
        private var course = ListingCourse()

        fileprivate init(_ pages: ObjectListing) {
            self.pages = pages
        }

        /// - Throws: ``StoreError``, `CancellationError`. After an error the same page is asked for again.
        package mutating func next() async throws -> ObjectPage? {
            if isAtEnd { return nil }
            let page = try await pages.store.list(prefix: pages.prefix, after: token, limit: pages.limit)
            try course.follow(page, prefix: pages.prefix)
            token = page.next
            isAtEnd = page.next == nil
            return page
        }
    }

    fileprivate let store: any ReadableStore
    fileprivate let prefix: String
    fileprivate let limit: Int

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}

extension ReadableStore {
    /// The objects whose key begins with `prefix`, in byte order, a thousand a page (the most that S3 gives at once).
    /// For those who go on where an object cannot be looked at.
    package func pages(prefix: String) -> AsyncMapSequence<ObjectListing, [ObjectInfo]> {
        listing(prefix: prefix).map { $0.objects }
    }

    /// The same, with what could not be looked at.
    package func listing(prefix: String) -> ObjectListing {
        ObjectListing(store: self, prefix: prefix, limit: 1_000)
    }

    /// All of it as one page, where there are few.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func all(below prefix: String) async throws -> ObjectPage {
        var all = ObjectPage(objects: [])
        for try await page in listing(prefix: prefix) {
            all.objects += page.objects
            all.problems += page.problems
        }
        return all
    }

    /// As `head`, of an object that somebody has told of: that nothing is there counts when a listing leaves it out,
    /// too. A 404 may be that of a proxy, or of a server that has not caught up.
    /// - Returns: `nil` for what is gone.
    /// - Throws: ``StoreError``, `.conflict` for what is listed and not given; `CancellationError`.
    package func confirmedHead(_ key: ObjectKey) async throws -> ObjectInfo? {
        if let info = try await head(key) { return info }
        try await confirmAbsence(of: key)
        return nil
    }

    /// - Throws: ``StoreError``, `.conflict` where a listing has the object after all; `CancellationError`.
    package func confirmAbsence(of key: ObjectKey) async throws {
        // What has this very key comes before all others that begin with it.
        guard try await list(prefix: key.rawValue, after: nil, limit: 1).keys.contains(key) else { return }
        throw StoreError.contradiction(of: key)
    }

    /// Whether there is an object whose key begins with `prefix`, also one that cannot be looked at.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func hasObjects(below prefix: String) async throws -> Bool {
        let page = try await list(prefix: prefix, after: nil, limit: 1)
        return !page.objects.isEmpty || !page.problems.isEmpty
    }
}

extension StoreError {
    /// Of an object that a listing has, and a HEAD has not.
    package static func contradiction(of key: ObjectKey) -> StoreError {
        StoreError(
            .conflict, operation: "head", key: key.rawValue,
            message: "the store lists it, and says that it does not have it; the next run looks at it again")
    }
}

/// Sees that a listing gets on. A server that gives the same token again, or pages without end and without objects, would
/// be asked for ever.
private struct ListingCourse {
    /// In a row. Amazon gives such where many objects were deleted.
    private static let mostEmptyPages = 1_000

    private var tokens: Set<PageToken> = []
    private var emptyPages = 0

    mutating func follow(_ page: ObjectPage, prefix: String) throws {
        guard let next = page.next else { return }
        emptyPages = page.objects.isEmpty && page.problems.isEmpty ? emptyPages + 1 : 0
        guard tokens.insert(next).inserted else { throw loop(prefix, "it gave the same continuation token twice") }
        if emptyPages > Self.mostEmptyPages { throw loop(prefix, "\(emptyPages) pages in a row hold no object") }
    }

    private func loop(_ prefix: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidResponse, operation: "list", key: prefix.isEmpty ? nil : prefix,
            message:
                "the store's listing does not come to its end: \(reason). Its listings cannot be relied on: ask its "
                + "operator, or take another store")
    }
}
