import FoundationEssentials
import SyncCore
import SyncLedger

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

/// What the ledger knows otherwise than it is listed, or is not listed at all.
struct ListedDifference: Sendable {
    let known: ObjectRecord
    let listed: ObjectInfo?
    /// It may be missing from its page, or be told as it was before: it was stored since that was asked for. What is stored
    /// later than now was stored by a clock that was ahead, and would be left out until its time has come.
    let isLater: Bool
    /// The listing has found it damaged.
    fileprivate let isDamaged: Bool
    /// The listing could not look at it now.
    fileprivate let isUnclear: Bool

    /// What is to be asked for since it is not listed as whole, and whether that is because the listing leaves it out;
    /// `nil` where that says nothing, or nothing new.
    var absence: (record: ObjectRecord, isUnlisted: Bool)? {
        guard listed == nil, !isLater, !isUnclear else { return nil }
        let isNews = isDamaged ? known.problem == nil : known.problem != .missing
        return isNews ? (record: known, isUnlisted: !isDamaged) : nil
    }
}

/// Holds what the ledger knows of a span against the page of a listing that stands for it.
struct ListingComparer: Sendable {
    private static let pageSize = 1_000

    let ledger: LedgerQueue
    let time: TimeSource

    /// - Parameters:
    ///   - askedAt: when the page was asked for, or an earlier moment.
    ///   - body: told the differences, a thousand at a time, in the order of keys.
    /// - Returns: how many of the listed objects are known.
    /// - Throws: ``LedgerError``, `CancellationError`, and what `body` throws.
    func compare(
        _ page: ObjectPage, _ span: ListedSpan, at askedAt: Date, _ body: ([ListedDifference]) async throws -> Void
    ) async throws -> Int {
        let (damaged, unclear) = (page.damaged, page.unclear)
        let listing = page.isInOrder(after: span.after) ? page.objects : page.objects.sorted { $0.key < $1.key }
        var known = 0
        var last = span.after
        repeat {
            let after = last
            let part = try await ledger { ledger in
                try ledger.compare(
                    listing, below: span.prefix, after: after, through: span.through, at: askedAt, limit: Self.pageSize)
            }
            last = part.last
            known += part.known
            if part.differences.isEmpty { continue }
            let now = time.now()
            try await body(
                part.differences.map { record, info in
                    ListedDifference(
                        known: record, listed: info, isLater: record.storedAt > askedAt && record.storedAt <= now,
                        isDamaged: damaged.contains(record.key), isUnclear: unclear.contains(record.key))
                })
        } while last != nil
        return known
    }
}
