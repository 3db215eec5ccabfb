import ServiceLifecycle
import SyncCore
import SyncLedger
import SyncSystem

/// From a claim to what is to be sent, on threads that read and decode.
extension PhotoPipeline {
    /// How long a thread goes on with a group before what is ready is sent.
    private static let slice = Duration.milliseconds(20)

    /// Reads the first ones for a while, and takes them off. What has nothing to send is committed.
    /// - Parameter pool: `nil` for the threads of all, or of large files.
    /// - Returns: what is ready to be sent.
    func prepare(_ claims: inout ArraySlice<Claim>, on pool: BlockingPool?) async throws -> [PreparedFile] {
        guard let first = claims.first else { return [] }
        let results =
            first.isSuspect
            ? [try await prepareSuspect(first, on: pool)] : try await read(claims.prefix { !$0.isSuspect }, on: pool)
        var ready: [PreparedFile] = []
        for (claim, result) in zip(claims, results) {
            switch result {
            case .ready(let file): ready.append(file)
            case .done(let outcome): try await endings.add(ClaimEnding(claim, outcome, at: time.now()))
            }
        }
        claims = claims.dropFirst(results.count)
        return ready
    }

    /// One suspect at a time: an agent that ends with it in hand tells which one it was. What is too large for any decoder
    /// is read for longer than the others shall wait.
    private func prepareSuspect(_ claim: Claim, on pool: BlockingPool?) async throws -> Preparer.Preparation {
        guard claim.stamp.size <= PhotoLimits().fileSize else { return try await read([claim], on: pool)[0] }
        return try await suspects.withSlot { try await read([claim], on: pool)[0] }
    }

    /// Reads one after the other for a while. What is being read when the agent stops is not read to its end.
    /// - Returns: what became of the first ones, of one at least.
    private func read(
        _ claims: ArraySlice<Claim>, on pool: BlockingPool?
    ) async throws -> [Preparer.Preparation] {
        let results = Lock<[Preparer.Preparation]>([])
        let first = claims[claims.startIndex]
        // A thread that a disk holds has one folder: that one is left alone.
        let together = claims.prefix { $0.folder.id == first.folder.id }
        do {
            let pool = pool ?? (first.isLarge ? largePool : self.pool)
            try await cancelWhenGracefulShutdown { [preparer, time, watchdog, work] in
                try await watchdog.reads.run(in: first.folder, on: pool, onReturn: work.signal) {
                    let end = time.monotonic() + Self.slice
                    for claim in together {
                        let result = try preparer.prepare(claim)
                        // Somebody else has answered for it.
                        if PooledWork.isGivenUp { return }
                        results.withLock { $0.append(result) }
                        if time.monotonic() >= end { return }
                    }
                }
            }
        } catch let error where error is DiskSilence || error is PhotoError {
            // Its thread was given up, by a disk or by a decoder that did not end; or its folder is left alone.
            return try await withFirstLeft(of: together, behind: results.withLock { $0 }, after: error)
        } catch is CancellationError {
            try Task.checkCancellation()
            return results.withLock { $0 } + [.done(.released)]
        }
        return results.withLock { $0 }
    }

    /// What became of photos whose thread was given up: of those before it, and of the one that it was at.
    private func withFirstLeft(
        of claims: ArraySlice<Claim>, behind done: [Preparer.Preparation], after error: any Error
    ) async throws -> [Preparer.Preparation] {
        // It may have been held, or stopped by the system, with all of them behind it.
        guard done.count < claims.count else { return done }
        return done + [.done(try await outcome(of: error, for: claims[claims.startIndex + done.count]))]
    }

    /// - Throws: what is no fault of the photo, nor of its disk; ``LedgerError``; `CancellationError`.
    func outcome(of error: any Error, for claim: Claim) async throws -> Outcome {
        switch error {
        case let silence as DiskSilence: putOff(claim, silence)
        case let error as PhotoError: try await recheck(at: claim, after: error)
        default: throw error
        }
    }

    private func recheck(at claim: Claim, after error: PhotoError) async throws -> Outcome {
        do {
            return try await watchdog.reads.run(in: claim.folder, on: pool, onReturn: work.signal) { [preparer] in
                try preparer.outcome(of: error, for: claim)
            }
        } catch let silence as DiskSilence {
            // Whatever was wrong with it cannot be seen now.
            return putOff(claim, silence)
        }
    }
}
