package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

/// Reads stored objects back, and holds their SHA-256 against what was stored. What is archived is held against what the
/// store says of it, and never restored. What is found is noted as it comes, so that a kill loses a few looks at most.
package struct Verifier: Sendable {
    package enum Choice: Sendable {
        /// So many of all objects, the longest unproven first; 100 for all.
        case percent(Double)
        case keys([ObjectKey])
    }

    package struct Broken: Hashable, Sendable {
        package let key: ObjectKey
        /// Of a photo of it; `nil` where none is known.
        package let path: FilePath?
        package let problem: ObjectFault
    }

    package struct Result: Sendable {
        package fileprivate(set) var checked = 0
        /// Bytes that were read.
        package fileprivate(set) var bytes: Int64 = 0
        package fileprivate(set) var intact = 0
        package fileprivate(set) var broken: [Broken] = []
        package fileprivate(set) var costUSD = 0.0
        /// Whether the money was over before the objects were.
        package fileprivate(set) var isOverBudget = false
        /// Objects of which the store could not tell now, and why; at most ``namedFailures`` of the reasons.
        package fileprivate(set) var undecided = 0
        package fileprivate(set) var failures: [StoreError] = []

        package static let namedFailures = 10

        package init() {}
    }

    private static let looksInFlight = 3
    private static let pageSize = 30

    private let examiner: ObjectExaminer
    private let ledger: LedgerQueue
    private let cost: VerificationCost
    private let time: TimeSource

    package init(store: any ReadableStore, ledger: LedgerQueue, cost: VerificationCost, time: TimeSource) {
        examiner = ObjectExaminer(store)
        self.ledger = ledger
        self.cost = cost
        self.time = time
    }

    /// - Parameters:
    ///   - limit: US dollars that this may cost; `nil` for any.
    ///   - moment: of all objects, only those are looked at that were proved before it.
    ///   - onProgress: told how many objects were looked at, and how many there are at most.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package func run(
        _ choice: Choice, costingAtMost limit: Double?, provedBefore moment: Date? = nil,
        onProgress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> Result {
        var result = Result()
        switch choice {
        case .keys(let keys):
            for start in stride(from: 0, to: keys.count, by: Self.pageSize) where !result.isOverBudget {
                let part = Array(keys[start..<min(start + Self.pageSize, keys.count)])
                let page = try await ledger { ledger in try part.compactMap { try ledger.object($0) } }
                try await look(at: page, limit, &result)
                onProgress(result.checked + result.undecided, keys.count)
            }
        case .percent(let percent):
            let known = try await ledger { try $0.overview().tiers.reduce(0) { $0 + $1.objects } }
            var left = percent >= 100 ? known : Int((Double(known) * percent / 100).rounded(.up))
            let total = left
            // What this run looks at is proved after it has begun, and not met again.
            let before = min(moment ?? .distantFuture, time.now())
            var cursor: ProofCursor? = .start
            while let from = cursor, left > 0, !result.isOverBudget {
                let count = min(left, Self.pageSize)
                let page = try await ledger { try $0.longestUnproven(before: before, after: from, limit: count) }
                try await look(at: page.objects, limit, &result)
                left -= page.objects.count
                cursor = page.next
                onProgress(result.checked + result.undecided, total)
            }
        }
        return result
    }

    private func look(at page: [ObjectRecord], _ limit: Double?, _ result: inout Result) async throws {
        var affordable: [ObjectRecord] = []
        var price = 0.0
        for record in page {
            let next = cost.usd(bytes: record.size, in: record.storageClass)
            if let limit, result.costUSD + price + next > limit {
                result.isOverBudget = true
                break
            }
            price += next
            affordable.append(record)
        }
        if affordable.isEmpty { return }
        let looks: [Look] = try await affordable.concurrently(Self.looksInFlight) { record in
            do {
                switch try await examiner.look(at: record, reading: .always) {
                case .intact(let found, _): return .done(.intact(found))
                case .broken(let problem): return .done(.broken(BrokenObject(record, problem)))
                }
            } catch let error as StoreError where !error.concernsWholeStore {
                return .undecided(error)
            }
        }
        result.costUSD += price
        try await note(looks, of: affordable, price, &result)
    }

    private enum Look: Sendable {
        case done(ObjectCheck)
        case undecided(StoreError)
    }

    private func note(
        _ looks: [Look], of records: [ObjectRecord], _ price: Double, _ result: inout Result
    ) async throws {
        var checks: [ObjectCheck] = []
        for (look, record) in zip(looks, records) {
            switch look {
            case .done(let check):
                checks.append(check)
                result.checked += 1
                if !record.storageClass.isArchive { result.bytes += record.size }
                if case .intact = check { result.intact += 1 }
            case .undecided(let error):
                result.undecided += 1
                if result.failures.count < Result.namedFailures { result.failures.append(error) }
            }
        }
        let (found, now) = (checks, time.now())
        result.broken += try await ledger.finish { ledger in
            // Its photos are asked for before they change their state.
            let broken = try found.compactMap { check -> Broken? in
                guard case .broken(let object) = check else { return nil }
                let path = try ledger.anyPhotoPaths(of: object.record.key, limit: 1).first
                return Broken(key: object.record.key, path: path, problem: object.problem)
            }
            try ledger.noteChecks(found, costUSD: price, at: now)
            return broken
        }
    }
}
