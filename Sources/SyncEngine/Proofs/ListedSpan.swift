import FoundationEssentials
import SyncCore

/// Keys below a prefix that a page of a listing stands for: what it leaves out of them is not listed.
struct ListedSpan: Hashable, Sendable {
    let prefix: String
    let after: ObjectKey?
    /// `nil` behind the last page.
    let through: ObjectKey?
}

extension ReadableStore {
    /// Lists what is below a prefix, with the keys that each page stands for: all of them together, in order. A page that
    /// goes back, as some servers give it, stands for none.
    ///
    /// The next page is asked for while `body` is at work on one: two of them are in memory.
    /// - Parameter body: also told when the page was asked for, or an earlier moment: what was stored later may be missing.
    func eachPage(
        below prefix: String, time: TimeSource, _ body: (ObjectPage, ListedSpan?, _ askedAt: Date) async throws -> Void
    ) async throws {
        var last: ObjectKey?
        var askedAt = time.now()
        var (found, rest) = try await Self.next(of: listing(prefix: prefix).makeAsyncIterator())
        while let page = found {
            let (pages, nextAskedAt) = (rest, time.now())
            async let following = Self.next(of: pages)
            let ends = [page.objects.last?.key, page.problems.map(\.key).max()].compactMap(\.self)
            if let end = ends.max(), last.map({ $0 < end }) ?? true {
                try await body(page, ListedSpan(prefix: prefix, after: last, through: end), askedAt)
                last = end
            } else {
                try await body(page, nil, askedAt)
            }
            (found, rest) = try await following
            if found != nil { askedAt = nextAskedAt }
        }
        try await body(ObjectPage(objects: []), ListedSpan(prefix: prefix, after: last, through: nil), askedAt)
    }

    private static func next(
        of pages: ObjectListing.AsyncIterator
    ) async throws -> (page: ObjectPage?, rest: ObjectListing.AsyncIterator) {
        var pages = pages
        let page = try await pages.next()
        return (page, pages)
    }
}

extension ObjectPage {
    /// What the listing has found damaged: it is asked for.
    var damaged: Set<ObjectKey> { Set(problems.lazy.filter { $0.error.code == .badDigest }.map(\.key)) }
    /// What it could not look at now: it is left for later.
    var unclear: Set<ObjectKey> { Set(problems.map(\.key)).subtracting(damaged) }
}
