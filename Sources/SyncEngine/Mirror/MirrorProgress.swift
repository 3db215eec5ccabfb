import SyncSystem

/// How far a mirror is with what it has to fetch.
package struct MirrorProgress: Hashable, Sendable {
    package internal(set) var photos = 0
    package internal(set) var photosDone = 0
    /// Bytes, of all photos.
    package internal(set) var size: Int64 = 0
    package internal(set) var sizeHere: Int64 = 0
}

/// Adds up what single downloads tell, on any thread.
final class MirrorMeter: Sendable {
    private struct State {
        var progress: MirrorProgress
        /// Bytes that are here, for each download.
        var here: [Int64]
    }

    private let state: Lock<State>
    private let observe: @Sendable (MirrorProgress) -> Void

    /// - Parameter sizes: of what is to be downloaded.
    init(sizes: [Int64], observe: @escaping @Sendable (MirrorProgress) -> Void) {
        var progress = MirrorProgress()
        progress.photos = sizes.count
        progress.size = sizes.reduce(0, +)
        state = Lock(State(progress: progress, here: Array(repeating: 0, count: sizes.count)))
        self.observe = observe
        observe(progress)
    }

    func note(_ index: Int, bytes: Int64) {
        change { state in
            state.progress.sizeHere += bytes - state.here[index]
            state.here[index] = bytes
        }
    }

    func noteEnd() {
        change { $0.progress.photosDone += 1 }
    }

    private func change(_ body: (inout State) -> Void) {
        observe(
            state.withLock { state in
                body(&state)
                return state.progress
            })
    }
}
