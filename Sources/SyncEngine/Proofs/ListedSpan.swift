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
    func eachPage(
        below prefix: String, _ body: (ObjectPage, ListedSpan?) async throws -> Void
    ) async throws {
        var last: ObjectKey?
        for try await page in listing(prefix: prefix) {
            let ends = [page.objects.last?.key, page.problems.map(\.key).max()].compactMap(\.self)
            guard let end = ends.max(), last.map({ $0 < end }) ?? true else {
                try await body(page, nil)
                continue
            }
            try await body(page, ListedSpan(prefix: prefix, after: last, through: end))
            last = end
        }
        try await body(ObjectPage(objects: []), ListedSpan(prefix: prefix, after: last, through: nil))
    }
}

extension ObjectPage {
    /// What the listing has found damaged: it is asked for.
    var damaged: Set<ObjectKey> { Set(problems.lazy.filter { $0.error.code == .badDigest }.map(\.key)) }
    /// What it could not look at now: it is left for later.
    var unclear: Set<ObjectKey> { Set(problems.map(\.key)).subtracting(damaged) }
    var listed: [ObjectKey: ObjectInfo] { Dictionary(objects.map { ($0.key, $0) }) { first, _ in first } }
}
