import SyncCore
import SyncSystem
import SystemPackage

/// Small objects that come at the same time are put together: of a thumbnail, the disk is asked four times to make it
/// safe, and its bytes are next to nothing.
extension LocalStore {
    /// Puts an object with those that wait when its turn comes; by itself where it is alone.
    func putAmongOthers(_ order: PutOrder) async throws -> PutReceipt {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<PutReceipt, any Error>) in
                let put = SmallPut(order: order, flag: flag) { continuation.resume(with: $0) }
                let lane = StoreLayout.lane(of: order.key, among: SmallPutQueue.laneCount)
                if smallPuts.withLock({ $0.add(put, to: lane) }) { pool.add { [self] in putGroup(of: lane) } }
            }
        } onCancel: {
            flag.set()
        }
    }

    /// Puts what waits in a lane. What else is asked of the store has its turn before the next group.
    private func putGroup(of lane: Int) {
        putTogether(smallPuts.withLock { $0.takeGroup(of: lane) })
        if smallPuts.withLock({ $0.endGroup(of: lane) }) { pool.add { [self] in putGroup(of: lane) } }
    }

    /// Each is answered for itself.
    func putTogether(_ puts: [SmallPut]) {
        do {
            try prepare("put")
        } catch {
            for put in puts { put.fail(error) }
            return
        }
        if puts.count == 1 { return putAlone(puts[0]) }
        var group = PutGroup(of: puts, in: self)
        group.run()
    }

    private func putAlone(_ small: SmallPut) {
        do {
            try small.flag.check()
            small.answer(.success(try put(small.order, small.flag)))
        } catch {
            small.fail(error)
        }
    }
}

/// A small object, and who waits for it.
struct SmallPut: Sendable {
    let order: PutOrder
    let flag: CancellationFlag
    /// Tells whoever waits what came of it. Called once.
    let answer: @Sendable (Result<PutReceipt, any Error>) -> Void

    /// As a store tells of it. What was cut short because it was cancelled has no other reason.
    func fail(_ error: any Error) {
        if flag.isSet {
            answer(.failure(CancellationError()))
        } else if let error = error as? FileError {
            answer(.failure(StoreError(error, operation: "put", key: order.key.rawValue)))
        } else {
            answer(.failure(error))
        }
    }
}

/// The small objects that wait for their turn. One group of each lane is under way; what comes meanwhile makes the
/// next. Lanes part the lock files among them, so that groups wait for the disk side by side, and not for each other.
struct SmallPutQueue: Sendable {
    /// Bytes. Of larger ones the bytes take longer than all else.
    static let largestBody: Int64 = 64 << 10
    static let laneCount = 4
    /// Each has a file open and two locks at most, in each lane.
    private static let largestGroup = min(32, DescriptorLimit.room(forEach: 3 * laneCount))

    private struct Lane: Sendable {
        var waiting: [SmallPut] = []
        var isUnderWay = false
    }

    private var lanes = [Lane](repeating: Lane(), count: SmallPutQueue.laneCount)

    /// - Returns: whether a thread is to begin with a group.
    mutating func add(_ put: SmallPut, to lane: Int) -> Bool {
        lanes[lane].waiting.append(put)
        if lanes[lane].isUnderWay { return false }
        lanes[lane].isUnderWay = true
        return true
    }

    mutating func takeGroup(of lane: Int) -> [SmallPut] {
        let group = Array(lanes[lane].waiting.prefix(Self.largestGroup))
        lanes[lane].waiting.removeFirst(group.count)
        return group
    }

    /// - Returns: whether there is another one.
    mutating func endGroup(of lane: Int) -> Bool {
        lanes[lane].isUnderWay = !lanes[lane].waiting.isEmpty
        return lanes[lane].isUnderWay
    }
}

/// Puts of small objects that take each step together, in the order that holds for one (``LocalStore``): all bytes are
/// synced, then all records; then the bytes are moved and their folders synced, each once; then the records are, and so
/// are theirs. So nothing is committed before its bytes are on the disk, and nothing is answered before its record is.
///
/// One that fails at a step leaves what it would leave by itself, and the others go on. All are answered at the end, in
/// the order in which they came: some failures that are told before what was stored beside them would pass for a store
/// that takes nothing. What has to do with something that is there (a version to replace, a name that is taken) is put
/// by itself when the group is done.
private struct PutGroup {
    private struct Member {
        /// Its place in the group.
        let number: Int
        let put: SmallPut
        let staged: StagedPut
        var record: CommitRecord
        /// What was written and is not synced yet.
        var file: OpenFile?

        var key: ObjectKey { put.order.key }
    }

    private let store: LocalStore
    private let puts: [SmallPut]
    /// That go on with the group.
    private var members: [Member]
    private var apart: [Member] = []
    /// Of those that failed, by their numbers.
    private var errors: [Int: any Error] = [:]

    init(of puts: [SmallPut], in store: LocalStore) {
        self.store = store
        self.puts = puts
        members = puts.enumerated().map { number, put in
            Member(
                number: number, put: put, staged: StagedPut(id: store.hexID(), layout: store.layout),
                record: put.order.record(modified: nil, at: store.now()))
        }
    }

    mutating func run() {
        stage()
        do {
            try store.locked(members.map(\.key)) {
                try store.requireSameStore("put")
                writeRecords()
                place()
                publish()
            }
        } catch {
            // Nothing was written but what is in `staging/`.
            each { _ in throw error }
        }
        answer()
        for member in apart { putApart(member) }
    }

    private func answer() {
        let waiting = Set(apart.map(\.number))
        for (number, put) in puts.enumerated() where !waiting.contains(number) {
            if let error = errors[number] {
                put.fail(error)
            } else {
                put.answer(.success(put.order.receipt))
            }
        }
    }

    /// Takes a step with each. It tells whether the member goes on with the group.
    private mutating func each(_ step: (inout Member) throws -> Bool) {
        var left: [Member] = []
        for member in members {
            var member = member
            do {
                if try store.clearing(member.staged, { try step(&member) }) {
                    left.append(member)
                } else {
                    apart.append(member)
                }
            } catch {
                errors[member.number] = error
            }
        }
        members = left
    }

    /// All bytes are written before the first sync: the disk has them under way together.
    private mutating func stage() {
        let store = store
        each { member in
            let (order, flag) = (member.put.order, member.put.flag)
            try flag.check()
            try store.requireRoom(order.condition, at: order.key, "put", flag)
            let file = try OpenFile(member.staged.content, .create)
            try store.fill(file, with: order.body, for: order.key, flag)
            try file.startWriting()
            member.file = file
            return true
        }
        each { member in
            try member.file?.sync()
            member.record.contentModified = try member.file?.stamp().modified
            member.file = nil
            try store.onStep(.staged)
            try member.put.flag.check()
            return true
        }
    }

    /// The keys are locked from here on.
    private mutating func writeRecords() {
        let store = store
        var places: Set<String> = []
        each { member in
            let (order, flag) = (member.put.order, member.put.flag)
            // On a disk that ignores capitals, two of them may have one place.
            guard places.insert(order.key.rawValue.lowercased()).inserted,
                try store.requireAllowed(order.condition, at: order.key, "put", flag) == nil
            else { return false }
            let folder = try store.makeContentFolder(for: order.key)
            let name = try store.freeName(
                in: folder, for: order.key, member.record, besides: nil, id: member.staged.id, takesPlainName: true,
                flag)
            member.record.file = name.string
            let json = try member.record.json()
            let file = try OpenFile(member.staged.record, .create)
            try json.withUnsafeBytes { try file.write($0) }
            try file.startWriting()
            member.file = file
            return true
        }
        each { member in
            try member.file?.sync()
            member.file = nil
            try store.onStep(.recorded)
            return true
        }
    }

    private mutating func place() {
        let store = store
        each { member in
            // Nothing loses its name by it. By itself, the put finds another one, or says what is in the way.
            let content = store.layout.content(member.record)
            if (try? NewFile.renameIfFree(member.staged.content, content)) == true { return true }
            try Disk.remove(member.staged.record)
            return false
        }
        var folders = SharedSyncs()
        each { member in
            let content = store.layout.content(member.record)
            do {
                try folders.sync(content.removingLastComponent(), in: store)
            } catch {
                // No record names it yet.
                try? Disk.remove(content)
                throw error
            }
            return true
        }
    }

    /// The commits.
    private mutating func publish() {
        let store = store
        each { member in
            do {
                try store.onStep(.placed)
                try store.publish(member.staged.record, member.record, at: member.key)
            } catch {
                try store.withdraw(member.record, at: member.key, after: error)
                throw error
            }
            return true
        }
        var folders = SharedSyncs()
        each { member in
            do {
                try folders.sync(store.layout.record(for: member.key).removingLastComponent(), in: store)
                try Disk.remove(store.layout.unsettled(member.key))
                try store.onStep(.committed)
            } catch {
                throw FailureAfterCommit(reason: error)
            }
            return true
        }
    }

    private func putApart(_ member: Member) {
        let (order, flag) = (member.put.order, member.put.flag)
        do {
            try store.clearing(member.staged) {
                try store.locked(order.key) {
                    try store.commit(member.staged, member.record, at: order.key, order.condition, "put", flag)
                }
            }
            member.put.answer(.success(order.receipt))
        } catch {
            member.put.fail(error)
        }
    }
}

/// Folders that several objects of a group lie in: each is synced once, for all of them.
private struct SharedSyncs {
    private var results: [FilePath: Result<Void, any Error>] = [:]

    /// - Throws: what the sync of this folder threw, for each of its objects.
    mutating func sync(_ folder: FilePath, in store: LocalStore) throws {
        let result = results[folder] ?? Result<Void, any Error>(catching: { try store.syncFolder(folder) })
        results[folder] = result
        try result.get()
    }
}
