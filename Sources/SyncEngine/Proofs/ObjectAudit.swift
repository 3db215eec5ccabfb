package import SyncCore
package import SyncLedger

/// Looks at objects of which something was said that contradicts the ledger, and notes what comes of it.
package struct ObjectAudit: Sendable {
    /// What several looks have come to.
    package struct Findings: Hashable, Sendable {
        package var broken = BrokenCount()
        /// Objects that were known as broken, and are there again.
        package var mended = 0

        package init() {}

        mutating func add(_ count: BrokenCount) {
            broken.objects += count.objects
            broken.pending += count.pending
            broken.lost += count.lost
        }
    }

    private static let looksInFlight = 8

    private let examiner: ObjectExaminer
    private let ledger: LedgerQueue
    private let time: TimeSource

    package init(store: any ReadableStore, ledger: LedgerQueue, time: TimeSource) {
        examiner = ObjectExaminer(store)
        self.ledger = ledger
        self.time = time
    }

    /// For objects that a listing has left out, or told otherwise. What the store cannot say now is left for later.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func look(
        at suspects: [(record: ObjectRecord, isUnlisted: Bool)], _ findings: inout Findings
    ) async throws {
        if suspects.isEmpty { return }
        let standings: [ObjectExaminer.Standing?] = try await suspects.concurrently(Self.looksInFlight) { suspect in
            do {
                return try await examiner.look(
                    at: suspect.record, reading: .inDoubt, isUnlisted: suspect.isUnlisted)
            } catch let error as StoreError where !error.concernsWholeStore {
                return nil
            }
        }
        var broken: [BrokenObject] = []
        var proven: [(record: ObjectRecord, isRead: Bool)] = []
        for (suspect, standing) in zip(suspects, standings) {
            switch standing {
            case .broken(let problem): broken.append(BrokenObject(suspect.record, problem))
            case .intact(let record, let isRead):
                if record != suspect.record || record.problem != nil || isRead { proven.append((record, isRead)) }
                if record.problem != nil { findings.mended += 1 }
            case nil: break
            }
        }
        let (marks, proofs, now) = (broken, proven, time.now())
        let count = try await ledger.finish { ledger in
            for proof in proofs { try ledger.noteProof(proof.record, isRead: proof.isRead, at: now) }
            return try ledger.markBroken(marks, at: now)
        }
        findings.add(count)
    }

    /// For an object that a read, a restore or a copy has not found, or found damaged.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func recheck(_ key: ObjectKey) async throws {
        guard let known = try await ledger({ try $0.object(key) }), known.problem == nil else { return }
        let now = time.now()
        do {
            guard case .broken(let problem) = try await examiner.look(at: known, reading: .always) else { return }
            _ = try await ledger.finish { try $0.markBroken([BrokenObject(known, problem)], at: now) }
        } catch is StoreError {
            // The next listing or verification tells.
        }
    }

    /// As ``recheck(_:)``, when an error says so.
    func recheck(_ key: ObjectKey, after error: StoreError) async throws {
        if error.code == .notFound || error.code == .badDigest { try await recheck(key) }
    }
}
