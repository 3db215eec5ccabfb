import FoundationEssentials
import SyncCore
import SyncLedger

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
