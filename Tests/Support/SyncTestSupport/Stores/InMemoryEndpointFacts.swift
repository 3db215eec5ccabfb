package import SyncCore
import SyncSystem

/// A memory that lives as long as the test, for several stores one after the other.
package final class InMemoryEndpointFacts: EndpointFactStore {
    private struct State {
        var uploads: [StoredUpload] = []
        var facts: [String: [String: String]] = [:]
        var writes = 0
    }

    private let state = Lock(State())

    package init() {}

    /// How often a fact was written.
    package var writes: Int { state.withLock { $0.writes } }

    package func noteUpload(_ upload: StoredUpload) {
        state.withLock { $0.uploads.append(upload) }
    }

    package func forgetUpload(_ id: String) {
        state.withLock { state in state.uploads.removeAll { $0.id == id } }
    }

    package func unfinishedUploads() -> [StoredUpload] { state.withLock { $0.uploads } }

    package func facts(of place: String) -> [String: String] { state.withLock { $0.facts[place] ?? [:] } }

    package func remember(_ fact: String, value: String, of place: String) {
        state.withLock { state in
            state.facts[place, default: [:]][fact] = value
            state.writes += 1
        }
    }
}
