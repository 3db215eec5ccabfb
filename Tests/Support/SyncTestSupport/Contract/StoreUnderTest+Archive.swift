import FoundationEssentials
import SyncCore

extension StoreUnderTest {
    /// Restores are asked after so often, in steps of half a second of the store's clock.
    private static let mostTries = 60

    /// Stores a text in an archive class.
    private func archive(_ text: String, _ name: String, _ storageClass: StorageClass) async throws -> ObjectKey {
        let key = try key(name)
        try await put(text, at: key, storageClass: storageClass)
        return key
    }

    /// `true` where the server restores nothing, and says so.
    private func refusesRestores(_ key: ObjectKey) async throws -> Bool {
        guard gaps.contains(.restoresNothing) else { return false }
        try await requireError(.unsupported, from: "restore") {
            _ = try await store.restore(key, RestoreRequest(days: 3, tier: .standard))
        }
        try requireEqual(try await store.head(key)?.restore, RestoreState.none, "restore state")
        return true
    }

    private func waitUntilRestored(_ key: ObjectKey) async throws -> Date? {
        for _ in 0..<Self.mostTries {
            if case .restored(let end) = try await store.head(key)?.restore { return end }
            try await clock.advance(.milliseconds(500))
        }
        throw ContractViolation(description: "\(key) is not restored after \(Self.mostTries / 2) s")
    }

    func anArchivedObjectComesBack() async throws {
        for storageClass in [StorageClass.deepArchive, .glacier] {
            let key = try await archive("cold", "\(storageClass)", storageClass)
            if try await refusesRestores(key) { continue }
            let answer = try await store.restore(key, RestoreRequest(days: 3, tier: .bulk))
            try requireEqual(answer, .accepted, "answer")
            if !gaps.contains(.restoresAtOnce) {
                try await requireUnderWay(key)
            }
            _ = try await waitUntilRestored(key)
            try requireEqual(try await text(at: key), "cold", "text")
            let info = try await store.head(key)
            // A temporary copy: the object stays where it is.
            try requireEqual(info?.storageClass, storageClass, "storage class")
            let listed = try await store.list(prefix: key.rawValue, after: nil, limit: 1).objects.first
            if store.capabilities.restoresInLists == true {
                try requireEqual(listed?.restore, info?.restore, "restore state in the list")
            } else {
                try requireEqual(listed?.restore, RestoreState.none, "restore state in the list")
            }

            // To where it is already: nothing happens to it. Elsewhere: for good.
            try await store.copy(key, to: key, storageClass: storageClass, condition: .overwrite)
            try requireEqual(
                try await store.head(key)?.restore, info?.restore, "restore state after no change of class")
            try await store.copy(key, to: key, storageClass: .standard, condition: .overwrite)
            try requireEqual(try await store.head(key)?.storageClass, .standard, "storage class after a copy in place")
            try requireEqual(try await text(at: key), "cold", "text after a copy in place")
        }
    }

    func aRestoreExpires() async throws {
        let key = try await archive("cold", "expires", .deepArchive)
        if try await refusesRestores(key) { return }
        let day = 86_400.0
        let asked = clock.now()
        _ = try await store.restore(key, RestoreRequest(days: 2, tier: .standard))
        guard let end = try await waitUntilRestored(key) else {
            throw ContractViolation(description: "a restore for two days tells no end")
        }
        // From the request on, rounded up to midnight UTC; servers in other processes may be a little off.
        let length = end.timeIntervalSince(asked)
        try require(length > 2 * day - 60 && length < 3 * day + 60, "two days last \(length) s")
        guard clock.isMovedByHand else { return }
        try requireEqual(end.timeIntervalSince1970.truncatingRemainder(dividingBy: day), 0, "time of the end")
        try await clock.advance(.seconds(end.timeIntervalSince(clock.now()) - 1))
        try requireEqual(try await text(at: key), "cold", "text in the last second")
        try await clock.advance(.seconds(1))
        try requireEqual(try await store.head(key)?.restore, RestoreState.none, "restore state after the end")
        try await requireError(.archived, from: "get after the end") { _ = try await store.bytes(of: key) }
        let answer = try await store.restore(key, RestoreRequest(days: 1, tier: .standard))
        try requireEqual(answer, .accepted, "answer to the next restore")
    }

    func restoringTwiceIsAlreadyRetrieving() async throws {
        let key = try await archive("cold", "twice", .glacier)
        if try await refusesRestores(key) { return }
        let request = RestoreRequest(days: 2, tier: .standard)
        try requireEqual(try await store.restore(key, request), .accepted, "answer")
        let second = try await store.restore(key, request)
        if gaps.contains(.restoresAtOnce) {
            try requireEqual(second, .accepted, "second answer")
        } else if try await !isOverMeanwhile(key) {
            try requireEqual(second, .alreadyRetrieving, "second answer")
        }
        let first = try await waitUntilRestored(key)
        // What is done gets another end.
        let longer = try await store.restore(key, RestoreRequest(days: 9, tier: .standard))
        try requireEqual(longer, .accepted, "answer about another end")
        let extended = try await waitUntilRestored(key)
        guard let first, let extended else { throw ContractViolation(description: "a restore tells no end") }
        try require(extended > first, "another end: \(extended) is not after \(first)")
    }

    /// A server's restore takes two seconds of real time, and a busy machine may take longer to ask.
    private func isOverMeanwhile(_ key: ObjectKey) async throws -> Bool {
        guard !clock.isMovedByHand, case .restored? = try await store.head(key)?.restore else { return false }
        return true
    }

    private func requireUnderWay(_ key: ObjectKey) async throws {
        if try await isOverMeanwhile(key) { return }
        do {
            try requireEqual(try await store.head(key)?.restore, .inProgress, "restore state")
            try await requireError(.archived, from: "get of what is under way") { _ = try await store.bytes(of: key) }
        } catch let violation as ContractViolation {
            if try await !isOverMeanwhile(key) { throw violation }
        }
    }

    func restoringWhatIsNotArchivedIsRefused() async throws {
        let request = RestoreRequest(days: 2, tier: .standard)
        let key = try key("warm")
        try await put("warm", at: key)
        if try await refusesRestores(key) { return }
        for storageClass in [StorageClass.standard, .glacierInstantRetrieval] {
            let key = try self.key("warm/\(storageClass)")
            try await put("warm", at: key, storageClass: storageClass)
            try await requireError(.notArchived, from: "restore from \(storageClass)") {
                _ = try await store.restore(key, request)
            }
            try requireEqual(try await text(at: key), "warm", "text")
        }
        try await requireError(.notFound, from: "restore of nothing") {
            _ = try await store.restore(self.key("nothing"), request)
        }
    }
}
