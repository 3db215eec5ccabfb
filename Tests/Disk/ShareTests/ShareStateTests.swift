import Foundation
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

/// The states that a process leaves that is killed while it shares: one after each thing that changes in the store. The
/// ledger's files are copied at that moment and opened as the next process would.
@Suite struct ShareStateTests {
    private static let folder = FilePath("trips/Paris")

    private final class World: Sendable {
        let tree: TemporaryTree
        let memory: InMemoryStore
        let store: WatchedStore
        let ledger: Ledger
        let queue: LedgerQueue
        let time = ManualTime()

        init() throws {
            tree = try TemporaryTree()
            let clock = time
            memory = InMemoryStore(now: { clock.now })
            let (memory, tree) = (memory, tree)
            try FileManager.default.createDirectory(
                atPath: tree.path("state").string, withIntermediateDirectories: true)
            ledger = try Ledger(at: tree.path("state/ledger.sqlite"))
            queue = LedgerQueue(ledger)
            let number = Lock(0)
            store = WatchedStore(memory) {
                let state = number.withLock { number in
                    number += 1
                    return number
                }
                try State.check(tree, memory, number: state)
            }
        }

        var workshop: ShareWorkshop { ShareWorkshop(store: store, ledger: queue, time: time) }

        func photo(_ name: String, _ number: Int) throws {
            try tree.write(try SmallPhoto.numbered(number), to: "\(folder)/\(name)")
        }

        func share(_ names: [String]) async throws -> ShareID {
            let order = try workshop.order(names, in: tree.path(folder.string), taken: "2024-06-15")
            return try await workshop.share(order).id
        }

        private var folder: FilePath { ShareStateTests.folder }
    }

    private enum State {
        /// Every object of a share belongs to one that the ledger, as it is on the disk now, knows to be there.
        static func check(_ tree: TemporaryTree, _ memory: InMemoryStore, number: Int) throws {
            let copy = tree.path("copy-\(number)")
            try FileManager.default.copyItem(atPath: tree.path("state").string, toPath: copy.string)
            let ledger = try Ledger(at: copy.appending("ledger.sqlite"))
            defer { try? ledger.close() }
            for key in memory.keys.map(\.rawValue) where key.hasPrefix(ShareKeys.prefix) {
                let id = try #require(ShareID(String(key.split(separator: "/")[1])), "state \(number): \(key)")
                let share = try #require(
                    try ledger.share(id), "state \(number): \(key) is of a share that nobody knows")
                #expect(!share.state.isOver, "state \(number): \(key) is there, and the share is over")
                let keys = try ledger.sharePhotos(id).flatMap {
                    [share.keys.photo($0.slot), share.keys.thumbnail($0.slot)]
                }
                let known = Set((keys + [share.keys.manifest, share.keys.page]).map(\.rawValue))
                #expect(known.contains(key), "state \(number): \(key) is no object of what is noted")
            }
        }
    }

    @Test func `killed after any change in the store, all that others can see is known to the ledger`() async throws {
        let world = try World()
        let names = (0..<6).map { "\($0).jpg" }
        for (number, name) in names.enumerated() { try world.photo(name, number) }
        let id = try await world.share(names)
        let first = world.store.changes
        // Six photos with thumbnails, page and manifest.
        #expect(first == 14)
        // One goes, one is another photo, one is new.
        try world.photo("1.jpg", 20)
        try world.photo("9.jpg", 21)
        #expect(try await world.share(["1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg", "9.jpg"]) == id)
        #expect(world.store.changes > first)
        try await world.workshop.remover.run(id, .revoked)
        #expect(world.memory.keys.filter { $0.rawValue.hasPrefix("shares/") }.isEmpty)
    }
}

/// A small photo of which there are many.
enum SmallPhoto {
    static func numbered(_ number: Int) throws -> [UInt8] {
        let photo = TellingPhotos.small
        let text = Array("photo \(number)".utf8)
        let length = text.count + 2
        // A comment (ITU-T T.81, B.2.4.5).
        return photo.prefix(2) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + text + photo.dropFirst(2)
    }
}

/// A store in memory, with a look after each change.
private final class WatchedStore: ObjectStore {
    private let base: InMemoryStore
    private let look: @Sendable () throws -> Void
    private let count = Lock(0)

    init(_ base: InMemoryStore, look: @escaping @Sendable () throws -> Void) {
        self.base = base
        self.look = look
    }

    var changes: Int { count.withLock { $0 } }
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    private func noteChange() throws {
        count.withLock { $0 += 1 }
        try look()
    }

    func close() async { await base.close() }
    func check() async throws { try await base.check() }
    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let receipt = try await base.put(body, at: key, attributes: attributes, condition: condition)
        try noteChange()
        return receipt
    }
    func head(_ key: ObjectKey) async throws -> ObjectInfo? { try await base.head(key) }
    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo { try await base.get(key, range: range, into: sink) }
    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await base.list(prefix: prefix, after: after, limit: limit)
    }
    func delete(_ key: ObjectKey) async throws {
        try await base.delete(key)
        try noteChange()
    }
}
