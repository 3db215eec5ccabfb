package import FoundationEssentials
package import SyncCore
import SyncSystem

/// A store in front of another that gives links, each with its number, as S3 does: for what is there, for so many whole
/// seconds from the last whole one on.
package final class LinkingStore: WrappedStore {
    private struct State {
        var givesLinks: Bool
        var longest = Duration.seconds(7 * 86_400)
        var count = 0
    }

    private let memory: InMemoryStore
    private let state: Lock<State>
    private let now: @Sendable () -> Date

    package init(_ base: InMemoryStore, givesLinks: Bool, now: @escaping @Sendable () -> Date) {
        memory = base
        self.now = now
        state = Lock(State(givesLinks: givesLinks))
    }

    /// The credentials last so long.
    package func setLongest(_ duration: Duration) { state.withLock { $0.longest = duration } }
    package var count: Int { state.withLock { $0.count } }

    package var base: any ObjectStore { memory }
    package var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.links = state.withLock { $0.givesLinks }
        return capabilities
    }

    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        guard memory.info(key) != nil else {
            throw StoreError(.notFound, operation: "link", key: key.rawValue, message: "nothing is there")
        }
        return state.withLock { state in
            state.count += 1
            let life = min(Duration.seconds(duration.components.seconds), state.longest)
            let date = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
            return StoreLink(
                url: "https://bucket.test/\(key)?X-Amz-Signature=\(state.count)",
                endsAt: date.addingTimeInterval(life / .seconds(1)),
                limit: life < duration ? "links are short here" : nil)
        }
    }
}
