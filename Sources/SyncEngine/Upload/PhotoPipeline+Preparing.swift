import ServiceLifecycle
import SyncCore
import SyncLedger
import SyncSystem

/// From a claim to what is to be sent, on threads that read and decode.
extension PhotoPipeline {
    /// How long a thread goes on with a group before what is ready is handed on.
    private static let slice = Duration.milliseconds(20)

    /// What has nothing to send is committed; what has, is handed on.
    func prepare(_ group: [Claim], handOn: @Sendable (PreparedFile) async throws -> Void) async throws {
        var rest = group[...]
        while let first = rest.first, !isStopping {
            let results =
                first.isSuspect ? [try await prepareSuspect(first)] : try await read(rest.prefix { !$0.isSuspect })
            for (claim, result) in zip(rest, results) {
                switch result {
                case .ready(let file): try await handOn(file)
                case .done(let outcome): try await endings.add(ClaimEnding(claim, outcome, at: time.now()))
                }
            }
            rest = rest.dropFirst(results.count)
        }
    }

    /// One suspect at a time: an agent that ends with it in hand tells which one it was. What is too large for any decoder
    /// is read for longer than the others shall wait.
    private func prepareSuspect(_ claim: Claim) async throws -> Preparer.Preparation {
        guard claim.stamp.size <= PhotoLimits().fileSize else { return try await read([claim])[0] }
        return try await suspects.withSlot { try await read([claim])[0] }
    }

    /// Reads one after the other for a while. What is being read when the agent stops is not read to its end.
    /// - Returns: what became of the first ones, of one at least.
    private func read(_ claims: ArraySlice<Claim>) async throws -> [Preparer.Preparation] {
        let results = Mutex<[Preparer.Preparation]>([])
        do {
            let pool = claims.first?.isLarge == true ? largePool : pool
            try await cancelWhenGracefulShutdown { [preparer, time] in
                try await pool.run {
                    let end = time.monotonic() + Self.slice
                    for claim in claims {
                        let result = try preparer.prepare(claim)
                        // Somebody else has answered for it.
                        if PooledWork.isGivenUp { return }
                        results.withLock { $0.append(result) }
                        if time.monotonic() >= end { return }
                    }
                }
            }
        } catch let error as PhotoError {
            // Its thread was given up.
            let outcome = try await outcome(of: error, for: claims[claims.startIndex + results.withLock { $0.count }])
            results.withLock { $0.append(.done(outcome)) }
        } catch is CancellationError {
            try Task.checkCancellation()
            results.withLock { $0.append(.done(.released)) }
        }
        return results.withLock { $0 }
    }

    func outcome(of error: PhotoError, for claim: Claim) async throws -> Outcome {
        try await pool.run { [preparer] in try preparer.outcome(of: error, for: claim) }
    }
}
