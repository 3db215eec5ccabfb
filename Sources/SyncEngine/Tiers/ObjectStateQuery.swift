package import SyncCore

/// Asks a store what it says of some objects, with as few requests as it can: one listing tells of a thousand objects,
/// a HEAD of one.
package struct ObjectStateQuery: Sendable {
    package enum Finding: Hashable, Sendable {
        case found(ObjectInfo)
        case missing
        case failed(StoreError)
    }

    /// HEADs under way at once.
    private static let headsInFlight = 8
    private static let pageSize = 1_000

    private let store: any ReadableStore
    /// How many objects there may be, to know what a listing costs; with `.max` all are asked for by name.
    private let knownObjects: Int

    package init(store: any ReadableStore, knownObjects: Int) {
        self.store = store
        self.knownObjects = knownObjects
    }

    /// - Parameter telling: whether the state of restores is needed too. Not every store's listing tells it.
    /// - Returns: a finding for each key.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; `CancellationError`.
    package func look(
        at keys: Set<ObjectKey>, tellingRestores telling: Bool
    ) async throws -> [ObjectKey: Finding] {
        var findings: [ObjectKey: Finding] = [:]
        if knownObjects / Self.pageSize + 1 < keys.count {
            for object in try await listed(keys) { findings[object.key] = .found(object) }
        }
        // Pages lose keys on some servers, so that what a listing leaves out is asked for by name.
        let unanswered = keys.filter { key in
            guard case .found(let info) = findings[key] else { return true }
            if info.storageClass == .intelligentTiering { return true }
            return telling && info.storageClass.isArchive && info.restore == .none && !listsTellRestores
        }
        for (key, finding) in try await heads(unanswered.sorted()) { findings[key] = finding }
        return findings
    }

    /// As ``look(at:tellingRestores:)``, for a few objects in a folder of many: each is listed by itself, so that a store
    /// whose listings tell of restores is asked for nothing else.
    package func sample(_ keys: [ObjectKey]) async throws -> [ObjectKey: Finding] {
        var findings: [ObjectKey: Finding] = [:]
        for key in keys {
            let page = try await store.list(prefix: key.rawValue, after: nil, limit: 1)
            if let info = page.objects.first, info.key == key, info.restore != .none || listsTellRestores {
                findings[key] = .found(info)
            }
        }
        for (key, finding) in try await heads(keys.filter { findings[$0] == nil }) { findings[key] = finding }
        return findings
    }

    private var listsTellRestores: Bool { store.capabilities.restoresInLists == true }

    /// Those of the keys that a listing of their common folder has. It ends early when the folder turns out to hold far
    /// more than was known.
    private func listed(_ keys: Set<ObjectKey>) async throws -> [ObjectInfo] {
        let prefix = Self.commonFolder(of: keys)
        var pagesLeft = 2 * (knownObjects / Self.pageSize) + 2
        var found: [ObjectInfo] = []
        for try await objects in store.pages(prefix: prefix) {
            found += objects.filter { keys.contains($0.key) }
            pagesLeft -= 1
            if pagesLeft == 0 || found.count == keys.count { break }
        }
        return found
    }

    private func heads(_ keys: [ObjectKey]) async throws -> [(ObjectKey, Finding)] {
        try await keys.concurrently(Self.headsInFlight) { key in
            do {
                return (key, try await store.head(key).map(Finding.found) ?? .missing)
            } catch let error as StoreError where !error.concernsWholeStore {
                return (key, .failed(error))
            }
        }
    }

    /// The longest beginning that all keys share, up to a `/`.
    static func commonFolder(of keys: Set<ObjectKey>) -> String {
        guard let first = keys.min()?.rawValue.utf8, let last = keys.max()?.rawValue.utf8 else { return "" }
        let shared = zip(first, last).prefix { $0 == $1 }.map(\.0)
        guard let slash = shared.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(decoding: shared[...slash], as: UTF8.self)
    }
}
