import FoundationEssentials
import SyncCore

/// The user's machines, by what they leave in the store.
struct OtherMachines: Sendable {
    typealias Listed = (key: ObjectKey, modified: Date?)

    /// Seconds without a sign after which a machine counts as gone.
    private static let silence: TimeInterval = 2 * 86_400

    let store: any ReadableStore
    let keys: KeyLayout

    /// When each machine has stored its note, or something of its catalogue, last; one of which that is not known is here.
    func lastSigns() async throws -> [String: Date] {
        var signs: [String: Date] = [:]
        for (key, modified) in try await listing(keys.machines) + listing(keys.catalog) {
            guard let id = CatalogSegment(key, keys)?.machine ?? keys.machineID(of: key) else { continue }
            signs[id] = max(signs[id] ?? .distantPast, modified ?? .distantFuture)
        }
        return signs
    }

    /// - Parameter now: by the store's clock.
    static func isSilent(since sign: Date, now: Date) -> Bool { now.timeIntervalSince(sign) >= silence }

    /// Of few objects.
    func listing(_ prefix: String) async throws -> [Listed] {
        var found: [Listed] = []
        for try await page in store.listing(prefix: prefix) {
            found += page.objects.map { ($0.key, $0.modified) } + page.problems.map { ($0.key, nil) }
        }
        return found
    }
}
