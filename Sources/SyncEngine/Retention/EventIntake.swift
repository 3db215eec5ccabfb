package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Looks at the files of galleries before a cleanup does: what nobody has read yet may be due, and what was edited counts
/// as it is now. It notes events and sends nothing.
package struct EventIntake: Sendable {
    private static let named = 10

    private let pass: SyncPass?
    private let ledger: LedgerQueue
    private let noter: EventFileNoter
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let work: Wakeup?

    /// - Parameters:
    ///   - pass: over the galleries. `nil` where an agent of another process sees to that: only files that it has in its
    ///     queue are read.
    ///   - work: signalled when the queue has got something new.
    package init(
        pass: SyncPass?, ledger: LedgerQueue, scanner: any TreeScanner, reducer: any PhotoReducer, pool: BlockingPool,
        work: Wakeup? = nil
    ) {
        self.pass = pass
        self.ledger = ledger
        noter = EventFileNoter(ledger: ledger.ledger, reducer: reducer)
        self.scanner = scanner
        self.pool = pool
        self.work = work
    }

    /// - Returns: files in which something cannot be told, which therefore keeps its text.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func takeIn() async throws -> [RetentionSummary.Issue] {
        if let pass {
            let queued = try await pass.takeIn().queued
            if queued > 0 { work?.signal() }
        }
        let unread = try await ledger { try $0.unreadEventFiles() }
        var issues: [RetentionSummary.Issue] = []
        // One file in memory at a time.
        for claim in unread {
            guard let reason = try await pool.run({ try read(claim) }) else { continue }
            issues.append(RetentionSummary.Issue(event: "-", file: claim.file, reason: reason))
        }
        let known = try await ledger { try $0.unclearEventFiles() }
        let looked = Set(unread.map(\.file))
        return issues
            + known.filter { !looked.contains($0.path) }.map {
                RetentionSummary.Issue(event: "-", file: $0.path, reason: Self.untold($0.reason))
            }
    }

    /// - Returns: why some of it cannot be told.
    private func read(_ claim: Claim) throws -> String? {
        do {
            guard let stamp = try scanner.stamp(of: claim.file), stamp.isUntouched(since: claim.stamp) else {
                // The next look at the folder sees what became of it.
                return nil
            }
            switch try noter.note(claim, stamp: stamp) {
            case .noEvents: return nil
            case .unreadable(let reason): return Self.untold("it \(reason)")
            case .events(let file, _):
                if file.malformed.isEmpty { return nil }
                let rest = file.malformed.count > Self.named ? "; and more" : ""
                return Self.untold(
                    "\(file.malformed.count) malformed: "
                        + file.malformed.prefix(Self.named).map(\.description).joined(separator: "; ") + rest)
            }
        } catch let error as PhotoError {
            return error.code == .changed || error.code == .missing ? nil : Self.untold(error.message)
        } catch let error as ScanError {
            return Self.untold(error.message)
        }
    }

    private static func untold(_ reason: String) -> String {
        "what cannot be told in it keeps its text; correct it, or remove it (\(reason))"
    }
}
