import FoundationEssentials
package import SyncCore
package import SyncSystem
package import SystemPackage

/// Copies one user's objects from one store into another: each proven on the way out, and by what the other store says of
/// it or gives back. What is there already is not sent again, so that it goes on wherever it was ended. It needs no list of
/// its own: both stores tell their keys in the same order.
package struct StoreCopy: Sendable {
    /// Objects under way at once.
    private static let batchSize = 3
    /// Objects that are chosen before they are sent.
    private static let lookahead = 24

    package struct Summary: Hashable, Sendable {
        package struct Count: Hashable, Sendable {
            package var objects = 0
            package var bytes: Int64 = 0

            mutating func note(_ object: ObjectInfo) {
                objects += 1
                // Each is a size that an object can have; of how many the store speaks is its own affair.
                let (sum, isTooLarge) = bytes.addingReportingOverflow(object.size)
                bytes = isTooLarge ? .max : sum
            }
        }

        /// Of what is to be there.
        package var total = Count()
        package var copied = Count()
        /// What was there.
        package var present = Count()
        /// What has to be restored in the old store before anybody can read it.
        package var archived = Count()
        /// What is missing in the new store, as far as a survey tells.
        package var missing = Count()
        /// Objects that are in another class than in the old store, by the old class and the new one.
        package var classes: [Classes: Int] = [:]
        /// What could not be copied.
        package var problems = ProblemList<ObjectProblem>()
        /// What is damaged in the old store, where it stays: nobody can copy it.
        package var damaged = ProblemList<ObjectProblem>()

        /// Whether the new store has all that the old one has whole.
        package var isWhole: Bool { archived.objects == 0 && missing.objects == 0 && problems.count == 0 }

        package struct Classes: Hashable, Sendable {
            package let old: StorageClass
            package let new: StorageClass
        }
    }

    private let source: any ObjectStore
    private let target: any ObjectStore
    private let prefixes: [String]
    private let own: Set<ObjectKey>
    private let folder: FilePath
    private let isDamaged: @Sendable (ObjectKey) async throws -> Bool
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - prefixes: of the keys that are copied, none of them within another one.
    ///   - own: keys of what each store tells of itself, which is not copied.
    ///   - folder: for objects on their way.
    ///   - isDamaged: of an object whose bytes arrive as others than were stored: whether the old store itself has others. Else it
    ///     may be the network's fault, and the object has to come.
    package init(
        from source: any ObjectStore, to target: any ObjectStore, prefixes: [String], leaving own: Set<ObjectKey> = [],
        folder: FilePath,
        isDamaged: @escaping @Sendable (ObjectKey) async throws -> Bool = { _ in false }, pool: BlockingPool,
        time: TimeSource
    ) {
        self.source = source
        self.target = target
        self.prefixes = prefixes
        self.own = own
        self.folder = folder
        self.isDamaged = isDamaged
        self.pool = pool
        self.time = time
    }

    /// Looks at what there is to do: two listings. What there is in truth tells ``run(onObject:)``.
    /// - Parameter isFounded: whether the new store is there: of one that is not, nothing is asked.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func survey(isFounded: Bool = true) async throws -> Summary {
        var summary = Summary()
        try await compare(&summary, isFounded: isFounded) { object, there, summary in
            // Where listings tell no digests, the same size has to do for a preview.
            if Self.matches(object, there) ?? (there?.size == object.size) {
                summary.present.note(object)
            } else if object.isLocked {
                summary.archived.note(object)
            } else {
                summary.missing.note(object)
            }
        }
        return summary
    }

    /// - Parameter onObject: told the bytes of each object that is done with. Calls may overlap.
    /// - Throws: ``StoreError`` when one of the stores as a whole cannot be used; what `isDamaged` throws;
    ///   `CancellationError`. What was copied stays.
    package func run(onObject: @escaping @Sendable (Int64) -> Void = { _ in }) async throws -> Summary {
        var summary = Summary()
        let denied = DeniedObjects()
        var open: [(object: ObjectInfo, there: ObjectInfo?)] = []
        try await compare(&summary) { object, there, summary in
            if Self.matches(object, there) == true {
                denied.noteGivenBefore()
                summary.present.note(object)
                onObject(object.size)
                return
            }
            open.append((object, there))
            if open.count >= Self.lookahead { try await copy(&open, denied, &summary, onObject) }
        }
        try await copy(&open, denied, &summary, onObject)
        return summary
    }

    /// Ends shares in the old store, where nobody would see to their ends any more.
    /// - Parameter guests: of the old store: its pages went on sending while it was copied.
    /// - Returns: which did not end, and why. One that does not holds up none of the others.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func removeOld(_ shares: [ShareID], _ guests: GuestIntake) async throws -> Removal {
        try await ShareStorage(store: source).end(shares, guests)
    }

    // MARK: Both listings

    private func compare(
        _ summary: inout Summary, isFounded: Bool = true,
        _ visit: (_ object: ObjectInfo, _ there: ObjectInfo?, _ summary: inout Summary) async throws -> Void
    ) async throws {
        for prefix in prefixes {
            var others = ObjectCursor(pages: target.listing(prefix: prefix).makeAsyncIterator())
            for try await page in source.listing(prefix: prefix) {
                for problem in page.problems { summary.problems.note(problem) }
                for object in page.objects where !own.contains(object.key) {
                    summary.total.note(object)
                    let there = isFounded ? try await others.object(at: object.key) : nil
                    try await visit(object, there, &summary)
                }
            }
        }
    }

    /// What listings prove of the bytes; `nil` where they tell no digests: of objects in parts, or encrypted ones.
    private static func matches(_ object: ObjectInfo, _ there: ObjectInfo?) -> Bool? {
        guard let there, there.size == object.size else { return false }
        if let ours = object.sha256, let theirs = there.sha256 { return ours == theirs }
        if let ours = object.md5, let theirs = there.md5 { return ours == theirs }
        return nil
    }

    // MARK: Objects

    private enum Outcome: Sendable {
        case copied(StorageClass)
        case present
        case archived
        /// It was deleted since it was listed: by now no listing has it.
        case gone
        case damaged(StoreError)
        /// The old store does not give it, and may give others.
        case denied(StoreError)
        case failed(StoreError)
    }

    private func copy(
        _ open: inout [(object: ObjectInfo, there: ObjectInfo?)], _ denied: DeniedObjects, _ summary: inout Summary,
        _ onObject: @escaping @Sendable (Int64) -> Void
    ) async throws {
        let items = open.enumerated().map { (number: $0, object: $1.object, there: $1.there) }
        open = []
        let outcomes = try await items.concurrently(Self.batchSize) { item in
            let outcome = try await attempt(item.object, item.there, number: item.number)
            switch outcome {
            case .copied, .damaged: denied.noteGiven()
            case .denied(let error): try denied.note(error)
            // Nothing was read of it.
            case .present, .archived, .gone, .failed: break
            }
            onObject(item.object.size)
            return outcome
        }
        for (item, outcome) in zip(items, outcomes) {
            switch outcome {
            case .copied(let storageClass):
                summary.copied.note(item.object)
                if storageClass != item.object.storageClass {
                    let classes = Summary.Classes(old: item.object.storageClass, new: storageClass)
                    summary.classes[classes, default: 0] += 1
                }
            case .present: summary.present.note(item.object)
            case .archived: summary.archived.note(item.object)
            case .gone: break
            case .damaged(let error): summary.damaged.note(ObjectProblem(key: item.object.key, error: error))
            case .denied(let error), .failed(let error):
                summary.problems.note(ObjectProblem(key: item.object.key, error: error))
            }
        }
    }

    private func attempt(_ object: ObjectInfo, _ there: ObjectInfo?, number: Int) async throws -> Outcome {
        do {
            return try await copy(object.key, there, number: number)
        } catch let error as StoreError where error.code == .archived && there == nil {
            return .archived
        } catch let denial as Denial {
            return .denied(denial.error)
        } catch let error as StoreError where !error.concernsWholeStore {
            return .failed(error)
        } catch let error as Errno {
            return .failed(unsaved(object.key, FileFault(error, or: "check the state folder").message))
        } catch let error as DownloadError {
            // Another object may be small enough.
            return .failed(unsaved(object.key, error.message))
        }
    }

    /// The old store does not give one object, and may give all others. What the new one denies, it denies to each.
    private struct Denial: Error {
        let error: StoreError
    }

    /// Asks the old store for one object.
    private func ofSource<Value>(_ ask: () async throws -> Value) async throws -> Value {
        do {
            return try await ask()
        } catch let error as StoreError where error.code == .accessDenied || error.isDenial {
            throw Denial(error: error)
        }
    }

    /// Of an object that the disk of the state folder does not hold on its way.
    private func unsaved(_ key: ObjectKey, _ reason: String) -> StoreError {
        StoreError(.sourceUnreadable, operation: "copy", key: key.rawValue, message: "\(folder): \(reason)")
    }

    /// - Parameter there: what a listing tells of the other store's.
    private func copy(_ key: ObjectKey, _ there: ObjectInfo?, number: Int) async throws -> Outcome {
        guard let info = try await ofSource({ try await source.confirmedHead(key) }) else { return .gone }
        var condition = PutCondition.ifAbsent
        if there != nil, let other = try await target.head(key) {
            switch Self.judge(info, other) {
            case .same: return .present
            case .older: condition = .overwrite
            // A machine that is there already has written it again since.
            case .other where Self.isNote(key): return .present
            case .other:
                throw StoreError(
                    .conflict, operation: "put", key: key.rawValue,
                    message:
                        "the new store has another object under this key, which is newer or a copy of its own; it was left "
                        + "as it is. Where it may go, remove it there, and run the command again")
            }
        }
        if info.isLocked { return .archived }
        let name = FilePath(Self.fileName(number))
        guard let component = name.lastComponent else { return .gone }
        let task = DownloadTask(key: key, folder: folder, name: component)
        let part = try await pool.run { try PartFile(for: task.destination, calls: DownloadCalls()) }
        do {
            // What another object has left in it.
            try await pool.run { try part.reset() }
            let content: ContentDigest
            do {
                let fetch = ObjectFetch(
                    store: source, pool: pool, policy: RetryPolicy(), time: time, task: task, part: part,
                    progress: { _ in })
                content = try await ofSource { try await fetch.run().digest }
            } catch let error as StoreError where error.code == .badDigest {
                guard try await isDamaged(key) else { throw error }
                try await pool.run { try part.remove() }
                return .damaged(error)
            }
            let storageClass = try await send(info, task, part, content, condition)
            try await pool.run { try part.remove() }
            return .copied(storageClass)
        } catch {
            try? await pool.run { try part.remove() }
            throw error
        }
    }

    /// What machines tell of themselves, of their trips and of the day's work: the last word counts, and each store has its own.
    private static func isNote(_ key: ObjectKey) -> Bool {
        let parts = key.segments
        return parts.count > 3 && parts[0] == "users" && ["machines", "jobs", "vacations"].contains(parts[2])
    }

    private static func fileName(_ number: Int) -> String { "move-\(number)" }

    /// Removes what copies that were killed have left of objects on their way. Nobody may be copying.
    package static func removeLeftovers(in folder: FilePath) {
        for number in 0..<lookahead {
            // What stays is nothing to go on from, and is tried again before the next copy.
            _ = try? NewFile.path(for: folder.appending(fileName(number))).unlink()
        }
    }

    private func send(
        _ info: ObjectInfo, _ task: DownloadTask, _ part: PartFile, _ content: ContentDigest, _ condition: PutCondition
    ) async throws -> StorageClass {
        let stamp = try await pool.run { FileStamp.ofFile(part.path) }
        guard let stamp else {
            throw StoreError(
                .sourceUnreadable, operation: "put", key: task.key.rawValue,
                message: "\(part.path) is gone; somebody has removed it while the object was copied")
        }
        let body = ObjectBody(file: part.path, stamp: stamp, digest: content)
        let attributes = ObjectAttributes(
            contentType: info.contentType ?? "application/octet-stream", metadata: info.metadata,
            storageClass: info.storageClass)
        _ = try await ProvenPut(target)(
            body, at: task.key, attributes, condition,
            orSay: "the new store does not hold what it took; run the command again")
        return try await target.head(task.key)?.storageClass ?? info.storageClass
    }

    private enum Judgement {
        case same
        /// What an earlier copying has left, of an object that was written again since.
        case older
        case other
    }

    private static func judge(_ info: ObjectInfo, _ other: ObjectInfo) -> Judgement {
        if other.size == info.size {
            let known = info.toldSHA256
            if let known, known == other.toldSHA256 { return .same }
            if known == nil, let md5 = info.md5, md5 == other.md5 { return .same }
        }
        // Another machine's copy of the same photo, which it has stored there itself.
        if let photo = info.photoMD5, photo == other.photoMD5, other.claimedSHA256 != nil { return .same }
        guard let written = info.modified, let then = other.modified, then < written else { return .other }
        return .older
    }
}
