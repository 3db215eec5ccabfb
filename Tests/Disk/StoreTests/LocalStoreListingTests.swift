import FoundationEssentials
import Glibc
import SyncCore
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

@Suite
struct LocalStoreListingTests {
    private let tree: TemporaryTree

    init() throws {
        // Ten thousand files, and nothing about how they came there.
        tree = try TemporaryTree(in: .memory)
    }

    /// A store with records `photos/{number}.dat`; only the first was really put.
    private func makeStore(_ numbers: [Int], windowCapacity: Int? = nil) async throws -> (LocalStore, keys: [String]) {
        let now: @Sendable () -> Date = { Date() }
        let store =
            if let windowCapacity {
                LocalStore(
                    root: tree.path("store"), now: now, restoreDuration: .seconds(5), windowCapacity: windowCapacity)
            } else {
                LocalStore(root: tree.path("store"), now: now, restoreDuration: .seconds(5))
            }
        try await store.store([1, 2, 3], at: ObjectKey("photos/x.dat"))
        let record = String(decoding: try tree.read("store/records/photos/x.dat~.json"), as: UTF8.self)
        for number in numbers {
            // A second name of the bytes: an object without its bytes is none.
            try FileManager.default.linkItem(
                atPath: tree.path("store/objects/photos/x.dat").string,
                toPath: tree.path("store/objects/photos/\(number).dat").string)
            let json = record.replacing("photos/x.dat", with: "photos/\(number).dat")
            try Data(json.utf8).write(to: URL(filePath: tree.path("store/records/photos/\(number).dat~.json").string))
        }
        // Only of a folder that nobody touches now may a listing remember the names.
        try tree.age("store/records/photos", bySeconds: 60)
        return (store, (numbers.map { "photos/\($0).dat" } + ["photos/x.dat"]).sorted())
    }

    @Test func `10,000 keys come in pages, in order, each once`() async throws {
        let (store, keys) = try await makeStore(Array(0..<9_999))
        #expect(try await store.keys(prefix: "photos/") == keys)
        #expect(try await store.keys(prefix: "photos/77", pageLimit: 50) == keys.filter { $0.hasPrefix("photos/77") })
    }

    @Test(arguments: [1, 2, 7, 100, 299, 300, 301])
    func `windows smaller than the folder give the same pages`(capacity: Int) async throws {
        let (store, keys) = try await makeStore(Array(0..<299), windowCapacity: capacity)
        #expect(try await store.keys(prefix: "", pageLimit: 7) == keys)
        #expect(try await store.keys(prefix: "photos/1", pageLimit: 3) == keys.filter { $0.hasPrefix("photos/1") })
    }

    @Test func `a page sees what was put and deleted since the page before`() async throws {
        let (store, keys) = try await makeStore(Array(0..<300), windowCapacity: 50)
        let first = try await store.list(prefix: "photos/", after: nil, limit: 10)
        try await store.delete(ObjectKey(keys[12]))
        try await store.store([9], at: ObjectKey(keys[10] + "x"))
        let second = try await store.list(prefix: "photos/", after: first.next, limit: 4)
        #expect(second.objects.map(\.key.rawValue) == [keys[10], keys[10] + "x", keys[11], keys[13]])
    }

    /// A change shows itself by the folder's time alone: one that leaves no trace there is seen only by who reads again.
    @Test func `the pages of one listing share what was read of a large folder`() async throws {
        let (store, keys) = try await makeStore(Array(0..<300), windowCapacity: 50)
        func setTime() throws {
            let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
            let folder = tree.path("store/records/photos").string
            guard utimensat(AT_FDCWD, folder, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
        }
        try setTime()
        let first = try await store.list(prefix: "photos/", after: nil, limit: 10)
        try await store.store([9], at: ObjectKey(keys[10] + "x"))
        try setTime()
        let second = try await store.list(prefix: "photos/", after: first.next, limit: 3)
        #expect(second.objects.map(\.key.rawValue) == Array(keys[10...12]))
        // The next listing begins anew.
        let again = try await store.list(prefix: "photos/", after: nil, limit: 12)
        #expect(again.objects.map(\.key.rawValue) == Array(keys[...10]) + [keys[10] + "x"])
    }

    @Test(arguments: [1, 10, 50])
    func `listings in turns do not mix`(capacity: Int) async throws {
        let (store, keys) = try await makeStore(Array(0..<120), windowCapacity: capacity)
        for name in ["photos/5/a", "photos/5/b", "photos/5/c"] { try await store.store([1], at: ObjectKey(name)) }
        try tree.age("store/records/photos", bySeconds: 60)
        try tree.age("store/records/photos/5", bySeconds: 60)
        let all = (keys + ["photos/5/a", "photos/5/b", "photos/5/c"]).sorted()
        var left: [String] = []
        var right: [String] = []
        var tokens: (PageToken?, PageToken?) = (nil, nil)
        for _ in 0...all.count where left.count < all.count || right.count < all.count {
            if left.count < all.count {
                let page = try await store.list(prefix: "", after: tokens.0, limit: 3)
                left += page.objects.map(\.key.rawValue)
                tokens.0 = page.next
            }
            if right.count < all.count {
                let page = try await store.list(prefix: "", after: tokens.1, limit: 5)
                right += page.objects.map(\.key.rawValue)
                tokens.1 = page.next
            }
        }
        #expect(left == all)
        #expect(right == all)
    }

    @Test(arguments: [0, -1, 1_001])
    func `a limit outside 1 to 1,000 is refused`(limit: Int) async throws {
        let (store, _) = try await makeStore([])
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.list(prefix: "", after: nil, limit: limit)
        }
        #expect(error?.code == .invalidRequest)
    }
}
