package import SyncCore

/// What the store makes of storage classes and restores.
extension StoreChecks {
    /// Those that mean something to us, from the dearest to the cheapest.
    package static let classes: [StorageClass] = [
        .standardIA, .intelligentTiering, .oneZoneIA, .glacierInstantRetrieval, .glacier, .deepArchive,
    ]

    /// What a store made of a storage class.
    private enum ClassTrial {
        case taken
        /// It says so of the object, and lists it in another class.
        case listedElsewhere
        case lacking
    }

    /// - Returns: the finding, and the classes that the store has; `nil` where they could not be tried to the end.
    package func storageClasses() async throws -> (Finding, [StorageClass]?) {
        var found: [StorageClass]?
        let finding = try await finding("storage-classes") { name in
            var trials: [StorageClass: ClassTrial] = [:]
            for storageClass in Self.classes { trials[storageClass] = try await tryClass(storageClass) }
            found = Self.classes.filter { trials[$0] == .taken }
            return Self.classFinding(name, trials)
        }
        return (finding, found)
    }

    /// A class that is refused says nothing of the next one: a store may have any of them.
    private func tryClass(_ storageClass: StorageClass) async throws -> ClassTrial {
        do {
            let key = try await stored("class-\(storageClass).txt", storageClass: storageClass)
            guard try await store.head(key)?.storageClass == storageClass else { return .lacking }
            // What is listed is believed: by that the ledger goes, and nearly every bill.
            return try await listed(key)?.storageClass == storageClass ? .taken : .listedElsewhere
        } catch let error as StoreError where [.unsupported, .invalidRequest, .settingRefused].contains(error.code) {
            return .lacking
        }
    }

    private static func classFinding(_ name: String, _ trials: [StorageClass: ClassTrial]) -> Finding {
        let found = classes.filter { trials[$0] == .taken }
        let untold = classes.filter { trials[$0] == .listedElsewhere }
        let missing = classes.filter { trials[$0] == .lacking }
        let follows =
            found.contains(where: \.isArchive)
            ? "what is to go there stays in STANDARD"
            : "archiving is not possible there, everything stays in STANDARD; tiers.mode: off says so in the configuration"
        if !untold.isEmpty {
            return .limited(
                name,
                (found.isEmpty ? "" : "\(names(found)) are taken; ")
                    + "the store says \(names(untold)) of an object, and lists it in another class; the listing is believed",
                instead: follows)
        }
        if found.isEmpty { return .limited(name, "the store has no class but STANDARD", instead: follows) }
        if missing.isEmpty { return .ok(name, "\(names(found)) are taken and told") }
        return .limited(
            name, "\(names(found)) are taken; \(names(missing)) \(missing.count == 1 ? "is" : "are") not",
            instead: follows)
    }

    /// - Parameter classes: those that the store has; `nil` where that is not known.
    package func copies(into classes: [StorageClass]?) async throws -> Finding {
        try await finding("copies") { name in
            let source = try await stored("original é.txt")
            do {
                let copy = try scratch.key("copy é.txt")
                try await store.copy(source, to: copy, storageClass: .standard, condition: .ifAbsent)
                guard try await read(copy, nil) == Self.bytes else {
                    return .wrong(name, "a copy is not equal to its original", remedy: Self.faultyServer)
                }
                guard let target = classes?.last else { return .ok(name, "objects are copied inside the store") }
                try await store.copy(source, to: source, storageClass: target, condition: .overwrite)
                guard try await store.head(source)?.storageClass == target else {
                    return .limited(
                        name, "copies are made, but a copy in place does not change the class",
                        instead: "objects stay in the class in which they were stored")
                }
                return .ok(name, "objects are copied inside the store, and moved to \(target) in place")
            } catch let error as StoreError where error.code == .unsupported {
                return .limited(
                    name, "the store cannot do it: \(Advice(error.message).reason)",
                    instead: "objects stay in the class in which they were stored")
            }
        }
    }

    /// - Parameter classes: those that the store has; `nil` where that is not known.
    /// - Returns: what becomes of restores, and whether listings tell of them where one was begun.
    package func restores(from classes: [StorageClass]?) async throws -> [Finding] {
        guard let classes else { return [.notTried("restores", since: "storage-classes")] }
        let trials = Self.trials.filter { classes.contains($0.storageClass) }
        guard let first = trials.first else {
            return [
                .limited(
                    "restores", "not tried: the store has no archive class",
                    instead: "nothing can be archived there, and all that is stored there can be read")
            ]
        }
        var answers: [RestoreTrial: StoreError?] = [:]
        var isReadable = false
        var outcome = try await finding("restores") { name in
            isReadable = try await canBeRead(try await archived(first))
            for trial in trials {
                let key = trial == first ? try first.key(in: scratch) : try await archived(trial)
                do {
                    _ = try await store.restore(key, RestoreRequest(days: 1, tier: trial.tier))
                    answers[trial] = .some(nil)
                } catch let error as StoreError where [.unsupported, .tierUnavailable].contains(error.code) {
                    answers[trial] = error
                }
            }
            return Self.restoreFinding(name, answers, isReadable: isReadable)
        }
        guard let begun = trials.first(where: { answers[$0] == .some(nil) }) else { return [outcome] }
        let key = try begun.key(in: scratch)
        let status = try await finding("restore-status") { name in
            if outcome.state == .ok, try await store.head(key)?.restore == RestoreState.none {
                outcome = .limited(
                    outcome.name, "restores are accepted, and nothing tells of them afterwards",
                    instead: "the object is read to see whether it is back")
            }
            guard let listed = try await listed(key), listed.restore != .none else {
                return .limited(
                    name, "listings do not tell of restores",
                    instead: "each object that is retrieved is asked for by itself")
            }
            return .ok(name, "one listing tells of up to 1,000 restores")
        }
        return [outcome, status]
    }

    // MARK: Restores

    private static let trials = [
        RestoreTrial(storageClass: .deepArchive, tier: .bulk),
        RestoreTrial(storageClass: .deepArchive, tier: .standard),
        RestoreTrial(storageClass: .glacier, tier: .expedited),
    ]

    private func archived(_ trial: RestoreTrial) async throws -> ObjectKey {
        try await stored(trial.name, storageClass: trial.storageClass)
    }

    /// Some stores know the class as a word only.
    private func canBeRead(_ key: ObjectKey) async throws -> Bool {
        do {
            return try await read(key, nil) == Self.bytes
        } catch let error as StoreError where error.code == .archived {
            return false
        }
    }

    private static func restoreFinding(
        _ name: String, _ answers: [RestoreTrial: StoreError?], isReadable: Bool
    ) -> Finding {
        let trials = answers.keys.sorted { $0.name < $1.name }
        let taken = trials.filter { answers[$0] == .some(nil) }
        let refused = trials.filter { answers[$0] != .some(nil) }
        let words = taken.map { "\($0.tier.rawValue) from \($0.storageClass)" }.joined(separator: ", ")
        if taken.isEmpty {
            if isReadable {
                return .limited(
                    name,
                    "the store has none; objects in \(Self.names(trials.map(\.storageClass))) can be read at once",
                    instead: "none is needed")
            }
            return .wrong(
                name, "archived objects cannot be read, and the store does not restore them",
                remedy: "set tiers.mode: off, or use a store that has restores",
                cause: refused.first.flatMap { answers[$0] ?? nil })
        }
        if !refused.isEmpty {
            let lacking = refused.map { "\($0.tier.rawValue) from \($0.storageClass)" }.joined(separator: ", ")
            return .limited(
                name, "\(words); not \(lacking)", instead: "ask with another tier: sync-agent restore --tier standard")
        }
        if isReadable {
            return .limited(
                name, "accepted (\(words)), but archived objects can be read without one", instead: "none is needed")
        }
        return .ok(name, words)
    }

    private static func names(_ classes: [StorageClass]) -> String {
        Self.classes.filter(classes.contains).map(\.rawValue).joined(separator: ", ")
    }
}

/// One way to ask for an object back.
private struct RestoreTrial: Hashable, Sendable {
    var storageClass: StorageClass
    var tier: RestoreTier

    var name: String { "restore-\(storageClass)-\(tier.rawValue).txt" }

    func key(in scratch: ScratchFolder) throws(InvalidName) -> ObjectKey { try scratch.key(name) }
}

extension StoreChecks {
    /// The store's rules are compared and not written: a change belongs to `lifecycle apply`.
    /// - Parameter classes: those that the store turned out to have; `nil` where that was not tried.
    package func lifecycle(_ policy: TierPolicy, classes: [StorageClass]? = nil) async throws -> Finding {
        try await finding("lifecycle") { name in
            if let classes, let lacking = policy.archiveClasses.first(where: { !classes.contains($0) }) {
                return .limited(
                    name, "the store has no \(lacking), so that neither rules nor the agent can move photos there",
                    instead: "they stay in STANDARD; set tiers.mode: off")
            }
            guard store.capabilities.lifecycle == .byRules else {
                return .ok(name, "the store keeps no rules; sync-agent carries ours out by itself")
            }
            do {
                return Self.finding(name, LifecyclePlan(from: try await store.lifecycle(), policy: policy))
            } catch let error as StoreError where error.code == .unsupported {
                return .limited(
                    name, "the store has no rules that move or remove objects",
                    instead: "set tiers.mode: agent, and sync-agent moves them itself; or off")
            } catch let error as StoreError where error.code == .accessDenied {
                return .limited(
                    name, "the credentials may not read the rules",
                    instead: "rules are left alone; to manage them, grant s3:GetLifecycleConfiguration and "
                        + "s3:PutLifecycleConfiguration")
            }
        }
    }

    private static func finding(_ name: String, _ plan: LifecyclePlan) -> Finding {
        let others = plan.foreignCount == 0 ? "" : ", beside \(plan.foreignCount) of others"
        if plan.isNothingToDo {
            return .ok(name, "our \(plan.changes.count.counted("rule stands", "rules stand")) as configured\(others)")
        }
        let (added, changed, removed) = plan.counts
        let steps = [(added, "to add"), (changed, "to change"), (removed, "to remove")].filter { $0.0 > 0 }
        return .limited(
            name,
            "our rules are not as configured: \(steps.map { "\($0.0) \($0.1)" }.joined(separator: ", "))\(others)",
            instead: "the store goes by those that it has; run: sync-agent lifecycle apply")
    }
}

extension LifecyclePlan {
    fileprivate var counts: (added: Int, changed: Int, removed: Int) {
        changes.reduce(into: (0, 0, 0)) { counts, change in
            switch change {
            case .added: counts.0 += 1
            case .changed: counts.1 += 1
            case .removed: counts.2 += 1
            case .unchanged: break
            }
        }
    }
}

extension TierPolicy {
    /// Where old photos are to go; none where nothing is archived.
    fileprivate var archiveClasses: [StorageClass] {
        mode == .off ? [] : archiveRules.compactMap { $0.own?.transition?.storageClass }
    }
}
