package import SyncCore

/// Follows a share until it ends. That it can be read no more has to be found twice in a row: a server in trouble, or one
/// that blocks us for a while, says the same once. A folder that is another one by now (a drive that is not mounted) is not
/// filled again.
package struct MirrorWatch: Sendable {
    private var mirror: ShareMirror
    private let interval: Duration
    private let time: TimeSource

    /// - Parameter interval: between two looks at the manifest.
    package init(_ mirror: ShareMirror, every interval: Duration = .seconds(300), time: TimeSource) {
        self.mirror = mirror
        self.interval = interval
        self.time = time
    }

    /// Returns when the share has ended. What the person changed or deleted is fetched again by the first round only, also
    /// where the mirror is forced.
    /// - Parameter ended: each round's outcome; a failure of a later one is tried again at the next.
    /// - Throws: what keeps the first round from beginning; `.notFound` where the share has ended, and its folder is lost;
    ///   `CancellationError`.
    package func run(
        observe: @escaping @Sendable (MirrorProgress) -> Void = { _ in },
        ended: (Result<MirrorResult, any Error>) async -> Void
    ) async throws {
        var mirror = mirror
        var isFirst = true
        var wasGone = false
        while true {
            do {
                var result = try await mirror.run(observe)
                let isDoubtful = result.end == .gone && !wasGone
                wasGone = result.end == .gone
                mirror.filled = result.filled ?? mirror.filled
                if isDoubtful { result.noteDoubt() }
                await ended(.success(result))
                if result.end != nil { return }
            } catch let error where !isFirst && !(error is CancellationError) {
                let isGone = (error as? StoreError)?.code == .notFound
                if isGone, wasGone { throw error }
                wasGone = isGone
                await ended(.failure(error))
            }
            isFirst = false
            mirror.options.isForced = false
            try await time.sleep(interval)
        }
    }
}

extension MirrorResult {
    fileprivate mutating func noteDoubt() {
        end = nil
        (kept, neverFetched) = ([], [])
        notes.append("the share cannot be read now; when the next look finds the same, it has ended")
    }
}
