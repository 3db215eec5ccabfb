import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncLedger

/// A vacation, a store that gives links when it is told to, and all that shares are made with. Nothing moves the clock but
/// the test. A photo's text is its content; its stored copy is the text in capitals.
final class ShareBench: Sendable {
    static let folder: FilePath = "/pictures/trips/Paris"

    let time: ManualTime
    let disk: FakeDisk
    let maker: FakeCopyMaker
    let memory: InMemoryStore
    let links: LinkingStore
    let store: FaultyStore
    let ledger: Ledger
    let queue: LedgerQueue
    let listener = RestoreBench.Listener()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let publicBase: URL?
    private let maximumPhotos: Int
    /// What the vacation consists of, in order.
    private let photos = Lock<[VacationPhoto]>([])

    init(
        givesLinks: Bool = false, publicBase: String? = nil, maximumPhotos: Int = 50,
        lifecycle: StoreCapabilities.Lifecycle = .byAgent, listedDigests: InMemoryStore.ListedDigests = .all
    ) throws {
        let clock = ManualTime()
        time = clock
        disk = FakeDisk()
        maker = FakeCopyMaker(disk: disk)
        memory = InMemoryStore(
            now: { clock.now }, restoreDuration: .seconds(3_600), lifecycle: lifecycle, listedDigests: listedDigests)
        links = LinkingStore(memory, givesLinks: givesLinks, now: { clock.now })
        store = FaultyStore(links)
        ledger = try Ledger.inMemory()
        queue = LedgerQueue(ledger)
        self.publicBase = publicBase.flatMap { URL(string: $0) }
        self.maximumPhotos = maximumPhotos
    }

    private init(_ other: ShareBench, publicBase: String) {
        (time, disk, maker, memory, links) = (other.time, other.disk, other.maker, other.memory, other.links)
        (store, ledger, queue, maximumPhotos) = (other.store, other.ledger, other.queue, other.maximumPhotos)
        self.publicBase = URL(string: publicBase)
    }

    /// The same with another `share.public_base_url`.
    func moved(to publicBase: String) -> ShareBench { ShareBench(self, publicBase: publicBase) }

    // MARK: The vacation

    /// - Parameters:
    ///   - isStored: in STANDARD; `nil` for a photo that is not stored yet.
    ///   - isLocal: whether the file is there.
    func add(
        _ name: String, _ text: String? = nil, in storageClass: StorageClass? = .standard, isLocal: Bool = true,
        type: MediaType = .jpeg, size: Int64? = nil
    ) async throws {
        let text = text ?? name
        let path = Self.folder.appending(name)
        if isLocal { disk.write(text, to: path) }
        let stamp = try disk.stamp(of: path) ?? FileStamp(device: 1, inode: 1, size: 9, modified: 0)
        let md5 = ContentDigest(of: Array(text.utf8)).md5
        var object: ObjectRecord?
        if let storageClass {
            let bytes = Array(text.uppercased().utf8)
            let key = try KeyLayout(user: "ana").photo(PhotoID(md5))
            try await memory.store(bytes, at: key)
            memory.setClass(storageClass, of: key)
            object = ObjectRecord(
                key: key, size: size ?? Int64(bytes.count), md5: md5, sha256: ContentDigest(of: bytes).sha256,
                contentType: type.name, storageClass: storageClass,
                takenAt: CaptureTime(Date(timeIntervalSince1970: 1_718_400_000), offset: 0), storedAt: time.now)
            if let object { try remember(object) }
        }
        let photo = VacationPhoto(
            path: path, name: name, state: !isLocal ? .missing : object == nil ? .pending : .uploaded, stamp: stamp,
            md5: object == nil ? nil : md5, object: object)
        photos.withLock { photos in
            photos.removeAll { $0.name == name }
            photos.append(photo)
            photos.sort { $0.name < $1.name }
        }
    }

    /// The person deletes the file. What is stored of it stays.
    func leaveOut(_ name: String) {
        photos.withLock { $0.removeAll { $0.name == name } }
        disk.remove(Self.folder.appending(name))
    }

    private func remember(_ object: ObjectRecord) throws {
        let folder = try ledger.register([WatchedFolder(kind: .vacations, path: "/pictures/trips")])[0]
        let count = UInt64(memory.keys.count)
        let stamp = FileStamp(device: 2, inode: 1_000 + count, size: object.size, modified: Int64(count))
        let file = FilePath("ledger/\(count)-\(object.key.lastSegment).jpg")
        _ = try ledger.observe(folder.id, file: file, stamp: stamp, stillThere: { _ in true }, at: time.now)
        for claim in try ledger.claim(limit: 10, at: time.now) {
            guard let md5 = object.md5, let sha256 = object.sha256 else { continue }
            try ledger.commit(
                claim, outcome: .uploaded(ContentDigest(md5: md5, sha256: sha256), object), at: time.now)
        }
    }

    func vacation(_ location: String = "Paris") throws -> Vacation {
        let day = try #require(CalendarDay("2024-06-15"))
        return Vacation(
            id: VacationID(rawValue: 1), folder: Self.folder,
            details: VacationDetails(location: location, startDate: day, endDate: day), photos: photos.withLock { $0 })
    }

    // MARK: Parts

    /// An owner whose name begins with "late" has ended.
    func lease(
        _ owner: String = "me", isCurrent: @escaping @Sendable (Ledger) throws -> Bool = { _ in true }
    ) -> ShareLease {
        ShareLease(
            ledger: queue, owner: ClaimOwner(name: owner, hasEnded: { $0.hasPrefix("late") }), time: time.source,
            isCurrent: isCurrent)
    }

    func planner(_ owner: String = "me") -> SharePlanner {
        SharePlanner(
            store: store, ledger: queue, reducer: disk, maker: maker,
            pool: BlockingPool(name: "planner", threads: 1), lease: lease(owner), maximumPhotos: maximumPhotos,
            expireDays: 30, time: time.source)
    }

    func publisher(
        _ owner: String = "me", store other: (any ObjectStore)? = nil,
        isCurrent: @escaping @Sendable (Ledger) throws -> Bool = { _ in true }
    ) -> SharePublisher {
        let store = other ?? self.store
        return SharePublisher(
            store: store, ledger: queue, scanner: disk, reducer: disk, maker: maker,
            pool: BlockingPool(name: "copies", threads: 3), policy: ReducePolicy(),
            writer: SharePageWriter(
                store: store, links: ShareLinks(store: store, publicBaseURL: publicBase, time: time.source)),
            notes: notes, lease: lease(owner, isCurrent: isCurrent), time: time.source)
    }

    var notes: ShareNotes {
        ShareNotes(store: store, ledger: queue, keys: .ana, name: "laptop", time: time.source)
    }

    private var otherRemover: OtherShareRemover {
        OtherShareRemover(
            store: store, ledger: queue,
            notes: ShareNotes(store: store, ledger: queue, keys: .ana, name: "here", time: time.source),
            time: time.source)
    }

    func remover(_ owner: String = "me") -> ShareRemover {
        ShareRemover(store: store, ledger: queue, notes: notes, lease: lease(owner))
    }

    func service(_ owner: String = "agent", store: (any ObjectStore)? = nil) -> ShareService {
        ShareService(
            publisher: publisher(owner, store: store), remover: remover(owner), notes: notes, others: otherRemover,
            ledger: queue,
            scanner: disk,
            pool: BlockingPool(name: "files", threads: 1),
            notifiers: Notifiers([listener], logger: logger),
            patience: LedgerPatience(ledger: queue, time: time.source, logger: logger), time: time.source,
            logger: logger)
    }

    // MARK: Sharing

    func order(_ change: (inout ShareOrder) throws -> Void = { _ in }) throws -> ShareOrder {
        var order = ShareOrder(vacation: try vacation(), sharedBy: "Ana")
        try change(&order)
        return order
    }

    func accept(_ order: ShareOrder? = nil) async throws -> ShareID {
        let planner = planner()
        return try await planner.accept(try await planner.propose(order ?? self.order()))
    }

    @discardableResult
    func share(_ order: ShareOrder? = nil) async throws -> ShareRecord {
        let planner = planner()
        let proposal = try await planner.propose(try order ?? self.order())
        if proposal.change == .none, let share = proposal.existing { return share }
        let id = try await planner.accept(proposal)
        switch try await publisher().run(id) {
        case .live(let share), .waiting(let share, _): return share
        }
    }

    func record(_ id: ShareID) throws -> ShareRecord { try #require(try ledger.share(id)) }

    // MARK: The store

    /// The requests so far, but for those that ask what was taken back on other machines.
    var requests: Int { store.calls.count { !$0.key.hasPrefix(KeyLayout.ana.shareNotes) } }

    /// The names of a share's objects below its folder.
    func objects(_ id: ShareID) -> [String] {
        let folder = ShareKeys(id).folder
        return memory.keys.map(\.rawValue).filter { $0.hasPrefix(folder) }
            .map { String($0.dropFirst(folder.count)).replacing("\(id)_", with: "") }
    }

    func manifest(_ id: ShareID) throws -> ShareManifest {
        let bytes = try #require(memory.content(ShareKeys(id).manifest))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(ShareManifest.self, from: Data(bytes))
    }

    func page(_ id: ShareID) throws -> String {
        String(decoding: try #require(memory.content(ShareKeys(id).page)), as: UTF8.self)
    }

    /// What others see: each slot with the text of its photo, in order. A photo that is not there is a `?`.
    func seen(_ id: ShareID) throws -> String {
        try manifest(id).photos.map { photo in
            let bytes = memory.content(ShareKeys(id).photo(photo.orderIndex))
            guard let bytes, ContentDigest(of: bytes).sha256.description == photo.sha256 else {
                return "\(photo.orderIndex):?"
            }
            return "\(photo.orderIndex):\(String(decoding: bytes, as: UTF8.self))"
        }.joined(separator: " ")
    }
}
