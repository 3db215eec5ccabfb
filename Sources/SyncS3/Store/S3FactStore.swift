package import FoundationEssentials
import SyncCore
import SyncSystem

/// What outlives the process, of one place: asked on a thread of its own.
///
/// No call is cut short by a cancellation: an upload that was begun has to be noted whatever becomes of its task.
final class S3FactStore: Sendable {
    /// Seconds. After 30 days a fact is learned anew, so that a server's new version is noticed.
    private static let lifetime: TimeInterval = 30 * 86_400

    private struct State {
        /// As they are remembered, or as they were before anything was learned.
        var known: [String: String] = [:]
        /// The latest facts that were given to be remembered, and their version.
        var latest: [String: String] = [:]
        var version = 0
        /// Uploads that this process began and has in hand.
        var own: Set<String> = []
    }

    private let memory: any EndpointFactStore
    /// Server and bucket.
    private let place: String
    private let pool = BlockingPool(name: "store-memory", threads: 1)
    private let now: @Sendable () -> Date
    private let state: Lock<State>

    /// - Parameter initial: facts that hold when nothing is remembered; they are not written.
    init(
        _ memory: any EndpointFactStore, of place: String, initial: [String: String],
        now: @escaping @Sendable () -> Date
    ) {
        self.memory = memory
        self.place = place
        self.now = now
        state = Lock(State(known: initial))
    }

    func close() async { await pool.shutDown() }

    /// The facts that are young enough to be believed.
    func load() async -> [String: String] {
        let stored = await pool.finish { [memory, place] in memory.facts(of: place) }
        let now = now()
        let facts = stored.compactMapValues { StoredFact.value($0, at: now, lifetime: Self.lifetime) }
        state.withLock { state in state.known.merge(facts) { $1 } }
        return facts
    }

    /// Writes what differs from what is known already. Requests end beside each other: facts that come after newer ones are
    /// dropped, and the pool's one thread writes none but the latest.
    /// - Parameters:
    ///   - facts: all of them.
    ///   - version: grows with each change of the facts.
    func remember(_ facts: [String: String], version: Int) async {
        let isNews = state.withLock { state in
            guard version > state.version else { return false }
            state.version = version
            state.latest = facts
            return facts.contains { state.known[$0.key] != $0.value }
        }
        if isNews { await write() }
    }

    /// Writes the facts whether they are known or not, so that what an earlier run found is not believed any longer.
    func rewrite(_ facts: [String: String], version: Int) async {
        state.withLock { $0.known = [:] }
        await remember(facts, version: version)
    }

    private func write() async {
        let date = now()
        await pool.finish { [memory, place, state] in
            let changed = state.withLock { state in
                let changed = state.latest.filter { state.known[$0.key] != $0.value }
                state.known.merge(changed) { $1 }
                return changed
            }
            for (name, value) in changed.sorted(by: { $0.key < $1.key }) {
                memory.remember(name, value: StoredFact.text(value, at: date), of: place)
            }
        }
    }

    // MARK: Uploads in parts

    func note(_ upload: MultipartID) async {
        state.withLock { state in _ = state.own.insert(upload.rawValue) }
        let stored = StoredUpload(id: upload.rawValue, key: upload.key, began: now())
        await pool.finish { [memory] in memory.noteUpload(stored) }
    }

    /// The upload was given up with its parts still there: ``leftovers()`` has it from now on.
    func disown(_ upload: MultipartID) {
        state.withLock { state in _ = state.own.remove(upload.rawValue) }
    }

    func forget(_ upload: MultipartID) async {
        disown(upload)
        await pool.finish { [memory] in memory.forgetUpload(upload.rawValue) }
    }

    /// Seconds for which a film that is being shared stays another process's: `share` runs beside an agent.
    private static let shareAge: TimeInterval = 7 * 86_400

    /// Those that nobody has in hand, the oldest first: another process left them, or this one could not take them back.
    func leftovers() async -> [MultipartID] {
        let all = await pool.finish { [memory] in memory.unfinishedUploads() }
        let own = state.withLock { $0.own }
        let limit = now().addingTimeInterval(-Self.shareAge)
        return all.filter { !own.contains($0.id) && ($0.began < limit || !$0.key.isBelow(ShareKeys.prefix)) }
            .map { MultipartID(key: $0.key, rawValue: $0.id) }
    }
}

/// A fact as it is written down: the moment in seconds since 1970, a space, and what was learned.
private enum StoredFact {
    static func text(_ value: String, at date: Date) -> String { "\(Int64(date.timeIntervalSince1970)) \(value)" }

    /// `nil` when it is too old, or lies in the future: a clock was wrong.
    static func value(_ text: String, at now: Date, lifetime: TimeInterval) -> String? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let seconds = Int64(parts[0]) else { return nil }
        let age = now.timeIntervalSince1970 - Double(seconds)
        return (0...lifetime).contains(age) ? String(parts[1]) : nil
    }
}

/// What a store learns of its endpoint on the way. Only the capabilities outlive it.
package struct EndpointFacts: Hashable, Sendable {
    /// Where the bucket is: as it was configured, until a redirect told better.
    package internal(set) var address: S3Address
    /// What has to be added to our clock to get the store's, in seconds. 0 until a request was refused for it.
    package internal(set) var clockOffset: TimeInterval = 0
    package internal(set) var capabilities: S3Capabilities

    package init(address: S3Address, capabilities: S3Capabilities? = nil) {
        self.address = address
        self.capabilities = capabilities ?? S3Capabilities(isAmazon: address.isAmazon)
    }
}
