import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ObjectDownloadTests {
    @Test(arguments: [0, 1, 300_000])
    func `An object becomes a file with its bytes and its time, and nothing else is left`(size: Int) async throws {
        let bench = try await DownloadBench(size: size)
        var task = bench.task()
        task.modified = Date(timeIntervalSince1970: 86_400.5)
        #expect(try await bench.download().run(task) == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
        #expect(try bench.tree.files() == ["photo.jpg"])
        #expect(try bench.tree.stamp("photo.jpg").modified == 86_400_500_000_000)
        #expect(bench.store.ranges == [nil])
        #expect(bench.store.heads == 0)
        // As any new file has it.
        try bench.tree.write("", to: "other")
        #expect(try bench.mode("photo.jpg") == bench.mode("other"))
    }

    @Test func `What has the right bytes is not downloaded again`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(bench.bytes, to: "photo.jpg")
        #expect(try await bench.download().run(bench.task(sha256: bench.sha256)) == .alreadyThere)
        #expect(bench.store.heads == 0)
        #expect(try await bench.download().run(bench.task()) == .alreadyThere)
        #expect(bench.store.heads == 1)
        #expect(bench.store.ranges == [])
    }

    @Test func `Another file of the name stays, unless it is to be replaced`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write("mine", to: "photo.jpg")
        var task = bench.task()
        #expect(try await bench.download().run(task) == .kept)
        #expect(try bench.tree.read("photo.jpg") == Array("mine".utf8))
        #expect(bench.store.ranges == [])
        task.overwrites = true
        #expect(try await bench.download().run(task) == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
    }

    @Test func `A link is never followed, neither to read nor to write`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(bench.bytes, to: "target")
        #expect(symlink("target", bench.tree.path("photo.jpg").string) == 0)
        try bench.tree.write("do not touch", to: "secret")
        #expect(symlink("secret", bench.tree.path(DownloadBench.part).string) == 0)
        var task = bench.task()
        #expect(try await bench.download().run(task) == .kept)
        task.overwrites = true
        #expect(try await bench.download().run(task) == .saved(isVerified: true))
        #expect(try bench.tree.files() == ["photo.jpg", "secret", "target"])
        #expect(try bench.tree.read("secret") == Array("do not touch".utf8))
    }

    // MARK: Going on

    @Test func `A cut connection is gone on from where it broke`() async throws {
        let bench = try await DownloadBench(cuts: [300, 200])
        let positions = Lock<[Int64]>([])
        let task = bench.task(sha256: bench.sha256)
        let outcome = try await bench.download().run(task) { at in positions.withLock { $0.append(at) } }
        #expect(outcome == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
        #expect(bench.store.ranges == [nil, 300..<1_000, 500..<1_000])
        #expect(positions.withLock { $0 } == [0, 300, 500, 1_000])
    }

    @Test func `Attempts that bring nothing end the download, and leave what came`() async throws {
        let bench = try await DownloadBench(cuts: [300, 0, 0])
        let error = await #expect(throws: StoreError.self) { try await bench.download().run(bench.task()) }
        #expect(error?.code == .connectionLost)
        #expect(bench.sleeps == [.milliseconds(500), .seconds(1)])
        #expect(try bench.tree.files() == [DownloadBench.part])
        #expect(try bench.mode(DownloadBench.part) == 0o600)
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(bench.store.ranges.last == 300..<1_000)
    }

    @Test func `A large file gets there however often the line breaks, as long as it brings something`() async throws {
        let bench = try await DownloadBench(size: 9 << 20, cuts: Array(repeating: 1 << 20, count: 8))
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(bench.store.ranges.count == 9)
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
    }

    @Test func `A cancelled download is gone on with by the next`() async throws {
        let gate = Gate()
        let bench = try await DownloadBench(cuts: [700]) { _ in await gate.pass() }
        let task = Task { try await bench.download().run(bench.task()) }
        await gate.waitForArrivals(1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try bench.tree.files() == [DownloadBench.part])
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(bench.store.ranges == [nil, 700..<1_000])
        #expect(try bench.tree.files() == ["photo.jpg"])
    }

    @Test func `Of a download that brought nothing, nothing is left`() async throws {
        let gate = Gate()
        let bench = try await DownloadBench(cuts: [0]) { _ in await gate.pass() }
        let task = Task { try await bench.download().run(bench.task()) }
        await gate.waitForArrivals(1)
        #expect(try bench.tree.files() == [DownloadBench.part])
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try bench.tree.files() == [])
    }

    @Test func `A part that has all bytes is only proven and named`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(bench.bytes, to: DownloadBench.part)
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(bench.store.ranges == [])
    }

    @Test(arguments: [400, 1_000, 1_001])
    func `A part of other bytes costs one more read and nothing else`(size: Int) async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(.noise(size, seed: 2), to: DownloadBench.part)
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
        #expect(bench.store.ranges.last == .some(nil))
        #expect(try bench.tree.files() == ["photo.jpg"])
    }

    @Test func `Where no digest is known, two reads are never put together`() async throws {
        let bench = try await DownloadBench(cuts: [300])
        bench.store.forgetDigests()
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: false))
        #expect(bench.store.ranges == [nil, nil])
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
        // Equal or not, it cannot be told from another.
        #expect(try await bench.download().run(bench.task()) == .kept)
    }

    @Test func `An object that is replaced between two reads is read anew`() async throws {
        let other = [UInt8].noise(1_000, seed: 3)
        let box = Lock<CuttingStore?>(nil)
        let bench = try await DownloadBench(cuts: [300]) { _ in
            guard let store = box.withLock({ $0 }), let key = try? ObjectKey("users/ana/photos/a.dat") else { return }
            try? await store.store(other, at: key)
        }
        box.withLock { $0 = bench.store }
        // The store holds the closure, and the closure holds the box.
        defer { box.withLock { $0 = nil } }
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == other)
        #expect(bench.store.ranges == [nil, 300..<1_000, nil])
    }

    // MARK: Failures

    @Test func `Bytes that are not the expected ones are tried twice, and never become a file`() async throws {
        let bench = try await DownloadBench()
        let task = bench.task(sha256: SHA256Digest(of: "another".utf8))
        let error = await #expect(throws: StoreError.self) { try await bench.download().run(task) }
        #expect(error?.code == .badDigest)
        #expect(error?.key == bench.key.rawValue)
        #expect(bench.store.ranges == [nil, nil])
        #expect(try bench.tree.files() == [])
    }

    @Test func `A full disk is told with the file and what to do, and gets its space back`() async throws {
        let bench = try await DownloadBench()
        var calls = DownloadCalls()
        calls.write = { file, offset, bytes in
            guard offset < 600 else { throw Errno.noSpace }
            return try file.write(toAbsoluteOffset: offset, UnsafeRawBufferPointer(rebasing: bytes.prefix(600)))
        }
        let download = bench.download(calls: calls)
        let error = await #expect(throws: DownloadError.self) { try await download.run(bench.task()) }
        #expect(error?.code == .noSpace)
        #expect(error?.concernsAll == true)
        #expect(error?.description.hasPrefix("\(bench.tree.path("photo.jpg")): the disk is full; free some") == true)
        #expect(try bench.tree.files() == [])
        #expect(bench.store.ranges.count == 1)
    }

    @Test func `A folder that is missing is named`() async throws {
        let bench = try await DownloadBench()
        var task = bench.task()
        task.folder = bench.tree.path("not/mounted")
        let error = await #expect(throws: DownloadError.self) { try await bench.download().run(task) }
        #expect(error?.code == .folderMissing)
        #expect(bench.store.ranges == [])
    }

    @Test func `A folder in the file's place stays`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write("x", to: "photo.jpg/inside")
        var task = bench.task()
        #expect(try await bench.download().run(task) == .kept)
        task.overwrites = true
        let error = await #expect(throws: DownloadError.self) { try await bench.download().run(task) }
        #expect(error?.code == .nameTaken)
        #expect(try bench.tree.read("photo.jpg/inside") == Array("x".utf8))
    }

    @Test func `What is archived is told at once, and the part waits for its restore`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(Array(bench.bytes[..<400]), to: DownloadBench.part)
        bench.store.memory.setClass(.deepArchive, of: bench.key)
        let error = await #expect(throws: StoreError.self) { try await bench.download().run(bench.task()) }
        #expect(error?.code == .archived)
        #expect(try bench.tree.files() == [DownloadBench.part])
    }

    @Test func `Of an object that is gone no part is kept`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(Array(bench.bytes[..<400]), to: DownloadBench.part)
        try await bench.store.delete(bench.key)
        let error = await #expect(throws: StoreError.self) { try await bench.download().run(bench.task()) }
        #expect(error?.code == .notFound)
        #expect(try bench.tree.files() == [])
    }

    // MARK: Others at the same place

    @Test func `Of two downloads of a file one says that the other has it`() async throws {
        let gate = Gate()
        let bench = try await DownloadBench(cuts: [300]) { _ in await gate.pass() }
        async let first = bench.download().run(bench.task())
        await gate.waitForArrivals(1)
        let error = await #expect(throws: DownloadError.self) { try await bench.download().run(bench.task()) }
        #expect(error?.code == .inUse)
        gate.open()
        #expect(try await first == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
    }

    @Test(arguments: [true, false])
    func `A file that appears meanwhile stays`(isEqual: Bool) async throws {
        let gate = Gate()
        let bench = try await DownloadBench(cuts: [300]) { _ in await gate.pass() }
        async let outcome = bench.download().run(bench.task())
        await gate.waitForArrivals(1)
        let theirs = isEqual ? bench.bytes : Array("theirs".utf8)
        try bench.tree.write(theirs, to: "photo.jpg")
        gate.open()
        #expect(try await outcome == (isEqual ? .alreadyThere : .kept))
        #expect(try bench.tree.read("photo.jpg") == theirs)
        #expect(try bench.tree.files() == ["photo.jpg"])
    }

    @Test(arguments: [Errno.notPermitted, .notSupported])
    func `Where files have one name only, nothing is replaced either`(errno: Errno) async throws {
        let bench = try await DownloadBench()
        var calls = DownloadCalls()
        calls.link = { (_, _) throws(Errno) in throw errno }
        let download = bench.download(calls: calls)
        #expect(try await download.run(bench.task()) == .saved(isVerified: true))
        #expect(try bench.tree.read("photo.jpg") == bench.bytes)
        calls.link = { [tree = bench.tree] (_, _) throws(Errno) in
            // Somebody is quicker.
            _ = try? tree.write("theirs", to: "other.jpg")
            throw errno
        }
        #expect(try await bench.download(calls: calls).run(bench.task("other.jpg")) == .kept)
        #expect(try bench.tree.files() == ["other.jpg", "photo.jpg"])
    }

    @Test func `A download that was killed while it named its file is tidied up`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(bench.bytes, to: "photo.jpg")
        #expect(link(bench.tree.path("photo.jpg").string, bench.tree.path(DownloadBench.part).string) == 0)
        #expect(try await bench.download().run(bench.task()) == .alreadyThere)
        #expect(try bench.tree.files() == ["photo.jpg"])
    }

    @Test func `A part with a second name belongs to somebody, and is not written to`() async throws {
        let bench = try await DownloadBench()
        try bench.tree.write("somebody's", to: "theirs")
        #expect(link(bench.tree.path("theirs").string, bench.tree.path(DownloadBench.part).string) == 0)
        #expect(try await bench.download().run(bench.task()) == .saved(isVerified: true))
        #expect(try bench.tree.read("theirs") == Array("somebody's".utf8))
    }

    @Test func `A name of full length has room for its part`() async throws {
        let bench = try await DownloadBench(cuts: [300])
        let name = try #require(FilePath.Component(String(repeating: "é", count: 125) + ".jpg"))
        #expect(try await bench.download().run(bench.task(name)) == .saved(isVerified: true))
        #expect(try bench.tree.files() == [name.string])
    }
}
