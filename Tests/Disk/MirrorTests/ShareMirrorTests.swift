import Dispatch
import FoundationEssentials
import Glibc
import SyncCore
import SyncDigest
import SyncEngine
import SyncS3
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ShareMirrorTests {
    static let names = (1...4).map { "00\($0)_2024-06-15_Paris.jpg" }
    private static let own = [".sync-agent-mirror.json", "vacation.json"]

    @Test(arguments: ["index.html", "vacation.json", "", "index.html?source=ana"])
    func `A link to page, manifest or folder brings the whole share`(name: String) async throws {
        try await SharedTrip.run { trip in
            trip[SharedTrip.folder + "index.html?source=ana"] = trip[SharedTrip.folder + "index.html"]
            let result = try await trip.mirror(trip.link(name)).run()
            #expect(result.downloaded.sorted() == Self.names && result.failed == 0 && result.isComplete)
            let names = try trip.names()
            #expect(names == ([".sync-agent-mirror.json"] + Self.names + ["vacation.json"]))
            for index in 0..<4 {
                let bytes = try trip.read(Self.names[index])
                #expect(bytes == trip[SharedTrip.path(index)]?.body)
            }
            var status = stat()
            lstat(trip.destination.appending(Self.names[0]).string, &status)
            #expect(status.st_mtim.tv_sec == 1_718_443_800)
            lstat(trip.destination.appending(".sync-agent-mirror.json").string, &status)
            #expect(status.st_mode & 0o777 == 0o600)
            let sent = trip.server.requests
            #expect(sent.allSatisfy { $0.headers["authorization"] == nil && $0.headers["cookie"] == nil })
            #expect(sent.allSatisfy { $0.headers["accept-encoding"] == "identity" && $0.method == "GET" })
        }
    }

    @Test func `A second run fetches no photo and writes nothing`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let before = try trip.names().map { try trip.tree.stamp("home/paris/\($0)") }
            trip.server.forgetRequests()
            let result = try await trip.mirror().run()
            #expect(result.downloaded.isEmpty && result.alreadyThere == 4 && result.isComplete)
            #expect(trip.photoRequests.isEmpty)
            let after = try trip.names().map { try trip.tree.stamp("home/paris/\($0)") }
            #expect(before == after)
        }
    }

    @Test(arguments: 1...7)
    func `A run that ends at any photo is gone on from`(stop: Int) async throws {
        try await SharedTrip.run(photos: 7) { trip in
            let reached = Signal(stop)
            trip.beforeAnswer { if $0.target.hasSuffix(".jpg") { reached.note() } }
            let task = Task { try await trip.mirror().run() }
            await reached.wait()
            task.cancel()
            _ = await task.result
            trip.beforeAnswer(nil)
            let there = Set(try trip.names().filter { $0.hasSuffix(".jpg") && !$0.hasPrefix(".") })
            // By another name of the server: a request of the run that was cancelled may reach it only now.
            let link = trip.link().replacing("127.0.0.1", with: "localhost")
            let result = try await trip.mirror(link).run()
            let asked = trip.server.requests.filter { $0.headers["host"]?.hasPrefix("localhost") == true }.map(\.target)
            let photos = asked.filter { $0.hasSuffix(".jpg") }
            #expect(asked.count > photos.count)
            #expect(result.isComplete && result.alreadyThere == there.count)
            #expect(Set(result.downloaded).isDisjoint(with: there) && result.downloaded.count == 7 - there.count)
            // One whose bytes had all arrived needs no request at all.
            #expect(photos.count <= 7 - there.count)
            #expect(Set(photos).count == photos.count)
            for index in 0..<7 {
                let bytes = try trip.read("00\(index + 1)_2024-06-15_Paris.jpg")
                #expect(bytes == trip[SharedTrip.path(index)]?.body)
            }
        }
    }

    @Test(arguments: [true, false])
    func `A photo that was cut is gone on from within it`(hasRanges: Bool) async throws {
        try await SharedTrip.run(photos: 1) { trip in
            let bytes = [UInt8].noise(300_000)
            trip.publish([SharedTrip.Photo(index: 0, bytes: bytes)])
            trip[SharedTrip.path(0)]?.cut = 200_000
            trip[SharedTrip.path(0)]?.hasRanges = hasRanges
            let first = try await trip.mirror(attempts: 1).run()
            #expect(first.failures.count == 1 && !first.isComplete)
            trip[SharedTrip.path(0)]?.cut = nil
            trip.server.forgetRequests()
            let second = try await trip.mirror().run()
            #expect(second.downloaded == [Self.names[0]])
            let saved = try trip.read(Self.names[0])
            #expect(saved == bytes)
            let ranges = trip.server.requests.compactMap { $0.headers["range"] }
            #expect(ranges.count == 1 && ranges[0].hasSuffix("-299999") && ranges[0] != "bytes=0-299999")
        }
    }

    @Test func `What the person changed, deleted or had there before stays, unless they say otherwise`() async throws {
        try await SharedTrip.run { trip in
            try trip.tree.write("mine", to: "home/paris/\(Self.names[3])")
            _ = try await trip.mirror().run()
            try trip.tree.write("edited", to: "home/paris/\(Self.names[0])")
            unlink(trip.destination.appending(Self.names[1]).string)
            trip.server.forgetRequests()
            let kept = try await trip.mirror().run()
            #expect(trip.photoRequests.isEmpty && kept.isComplete && kept.alreadyThere == 1)
            let reasons = kept.kept.reduce(into: [:]) { $0[$1.name] = $1.reason }
            #expect(
                reasons == [Self.names[0]: .changed, Self.names[1]: .deleted, Self.names[3]: .nameTaken])
            let edited = try trip.read(Self.names[0])
            #expect(edited == Array("edited".utf8))
            let forced = try await trip.mirror(nil, ShareMirror.Options(isForced: true)).run()
            #expect(forced.downloaded.sorted() == [Self.names[0], Self.names[1], Self.names[3]] && forced.kept.isEmpty)
            let restored = try trip.read(Self.names[3])
            #expect(restored == trip[SharedTrip.path(3)]?.body)
        }
    }

    @Test func `A touched file is read once and is no change`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            try trip.tree.age("home/paris/\(Self.names[0])", bySeconds: 5_000)
            let result = try await trip.mirror().run()
            #expect(result.alreadyThere == 4 && result.kept.isEmpty)
        }
    }

    @Test func `A share that changes is followed, and nothing is taken away`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            // The second is gone, the third was replaced in its place, a new one came.
            var photos = trip.photos(4)
            photos[2].bytes = .noise(3_000, seed: 99)
            photos.append(SharedTrip.Photo(index: 9, bytes: .noise(50, seed: 7), takenAt: nil))
            photos.remove(at: 1)
            trip.publish(photos, changes: ["\"Paris\"": "\"Paris, France\""])
            trip.server.forgetRequests()
            let result = try await trip.mirror().run()
            let digest = SHA256Digest(of: [UInt8].noise(3_000, seed: 99)).description.prefix(8)
            #expect(
                result.downloaded.sorted() == [
                    "003_2024-06-15_Paris_France_\(digest).jpg", "010_2024-06-15_Paris_France.jpg",
                ])
            #expect(result.alreadyThere == 2 && trip.photoRequests.count == 2)
            let names = try trip.names()
            #expect(Self.names.allSatisfy { names.contains($0) })
            let again = try await trip.mirror().run()
            #expect(again.alreadyThere == 4 && again.downloaded.isEmpty)
        }
    }

    @Test func `A share that changes while it is read is read once more`() async throws {
        try await SharedTrip.run { trip in
            trip[SharedTrip.path(3)] = nil
            trip.beforeAnswer { request in
                guard request.target == SharedTrip.path(3) else { return }
                trip.beforeAnswer(nil)
                trip.publish(trip.photos(3) + [SharedTrip.Photo(index: 4, bytes: .noise(70, seed: 5))])
            }
            let result = try await trip.mirror().run()
            #expect(result.downloaded.sorted() == Self.names[..<3] + ["005_2024-06-15_Paris.jpg"])
            #expect(result.isComplete && result.failed == 0 && result.alreadyThere == 0)
        }
    }

    @Test func `A preview fetches three, and the full run the rest`() async throws {
        try await SharedTrip.run { trip in
            let preview = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            #expect(preview.downloaded.sorted() == Array(Self.names[..<3]) && !preview.isComplete)
            let full = try await trip.mirror().run()
            #expect(full.downloaded == [Self.names[3]] && full.alreadyThere == 3 && full.isComplete)
        }
    }

    @Test func `A link that has ended is replaced by the newer one that the manifest told`() async throws {
        try await SharedTrip.run { trip in
            let manifest = trip.manifest(trip.photos(4)).replacing(
                "\"version\":1", with: "\"version\":1,\"manifestURL\":\"\(trip.link("vacation.json"))?signed=2\"")
            trip[SharedTrip.folder + "vacation.json"] = WebServer.Answer(manifest)
            _ = try await trip.mirror().run()
            trip[SharedTrip.folder + "index.html"] = WebServer.Answer("expired", status: 403)
            trip[SharedTrip.folder + "vacation.json"] = WebServer.Answer("expired", status: 403)
            trip[SharedTrip.folder + "vacation.json?signed=2"] = WebServer.Answer(manifest)
            let result = try await trip.mirror().run()
            #expect(result.end == nil && result.alreadyThere == 4)
            let kept = try trip.read("vacation.json")
            #expect(!String(decoding: kept, as: UTF8.self).contains("signed"))
        }
    }

    @Test func `The mirror of another share is not touched`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let before = try trip.names()
            let other = "00000000-0000-4000-8000-000000000000"
            trip["/trip/vacation.json"] = trip[SharedTrip.folder + "vacation.json"]
            trip["/trip/vacation.json"]?.body = Array(
                trip.manifest(trip.photos(4)).replacing(SharedTrip.id, with: other).utf8)
            for link in [
                trip.server.origin + "/trip/vacation.json", trip.server.origin + "/shares/\(other)/index.html",
            ] {
                let error = await #expect(throws: MirrorError.self) { try await trip.mirror(link).run() }
                #expect(error?.code == .otherShare)
            }
            let after = try trip.names()
            #expect(before == after)
        }
    }

    @Test func `A damaged memory is told, and nothing is overwritten`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            try trip.tree.write("{\"version\":1,", to: "home/paris/.sync-agent-mirror.json")
            try trip.tree.write("edited", to: "home/paris/\(Self.names[0])")
            let result = try await trip.mirror().run()
            #expect(result.notes.contains { $0.contains("could not be read") })
            #expect(result.alreadyThere == 3 && result.kept.map(\.reason) == [.nameTaken])
            try trip.tree.write("{\"version\":2}", to: "home/paris/.sync-agent-mirror.json")
            let error = await #expect(throws: MirrorError.self) { try await trip.mirror().run() }
            #expect(error?.code == .newerState)
        }
    }

    @Test func `Two at once in one folder do not meet`() async throws {
        try await SharedTrip.run { trip in
            let reached = Signal(1)
            let gate = DispatchSemaphore(value: 0)
            trip.beforeAnswer { request in
                guard request.target.hasSuffix("_0.jpg") else { return }
                reached.note()
                gate.wait()
            }
            async let first = trip.mirror().run()
            await reached.wait()
            let error = await #expect(throws: MirrorError.self) { try await trip.mirror().run() }
            #expect(error?.code == .inUse)
            gate.signal()
            let result = try await first
            #expect(result.isComplete)
        }
    }

    @Test func `A vacation of the person's own is left alone`() async throws {
        try await SharedTrip.run { trip in
            try trip.tree.write("{\"locationName\":\"Home\"}", to: "home/paris/vacation.json")
            let result = try await trip.mirror().run()
            #expect(result.notes.count == 1)
            let kept = try trip.read("vacation.json")
            #expect(kept == Array("{\"locationName\":\"Home\"}".utf8))
        }
    }

    @Test(arguments: [false, true])
    func `Links in the folder are never followed`(isForced: Bool) async throws {
        try await SharedTrip.run { trip in
            try trip.tree.makeFolder("home/paris")
            let outside = trip.tree.path("outside/precious.jpg").string
            for name in [
                Self.names[0], ".\(Self.names[1]).sync-agent-part", "vacation.json", ".sync-agent-mirror.json",
            ] {
                symlink(outside, trip.destination.appending(name).string)
            }
            let before = try trip.outside()
            let result = try await trip.mirror(nil, ShareMirror.Options(isForced: isForced)).run()
            #expect(result.downloaded.count == (isForced ? 4 : 3))
            let after = try trip.outside()
            #expect(before == after)
            let precious = try trip.tree.read("outside/precious.jpg")
            #expect(precious == Array("precious".utf8))
        }
    }

    @Test func `A full disk is told once, and the next run goes on`() async throws {
        try await SharedTrip.run { trip in
            var calls = DownloadCalls()
            let written = Lock(0)
            calls.write = { file, offset, bytes in
                let count = written.withLock { written in
                    written += 1
                    return written
                }
                if count > 2 { throw Errno.noSpace }
                return try file.write(toAbsoluteOffset: offset, bytes)
            }
            let full = try await trip.mirror(calls: calls).run()
            #expect("\(try #require(full.obstacle))".contains("the disk is full"))
            #expect(full.failures.isEmpty && full.downloaded.count + full.untried.count == 4 && !full.isComplete)
            #expect(Set(full.downloaded + full.untried) == Set(Self.names))
            let rest = try await trip.mirror().run()
            #expect(rest.isComplete && rest.alreadyThere == full.downloaded.count)
        }
    }

    /// Not even the small file by which the next run knows what is there.
    @Test(arguments: [0, 2])
    func `On a disk that is full to the last block, what has come is counted`(room: Int) async throws {
        try await SharedTrip.run { trip in
            var calls = DownloadCalls()
            let (write, save) = (calls.write, calls.save)
            let written = Lock(0)
            calls.write = { file, offset, bytes in
                let count = written.withLock { written in
                    written += 1
                    return written
                }
                if count > 2 { throw Errno.noSpace }
                return try write(file, offset, bytes)
            }
            calls.save = { bytes, path, permissions in
                if written.withLock({ $0 }) >= room { throw Errno.noSpace }
                try save(bytes, path, permissions)
            }
            if room == 0 {
                let error = await #expect(throws: DownloadError.self) { try await trip.mirror(calls: calls).run() }
                #expect(error?.code == .noSpace)
                return
            }
            let full = try await trip.mirror(calls: calls).run()
            #expect("\(try #require(full.obstacle))".contains("the disk is full"))
            #expect(!full.downloaded.isEmpty && full.downloaded.count + full.untried.count == 4)
            #expect(Set(full.downloaded + full.untried) == Set(Self.names))
            #expect(full.failures.isEmpty && !full.isComplete)
            let rest = try await trip.mirror().run()
            #expect(rest.isComplete && rest.alreadyThere + rest.downloaded.count == 4)
        }
    }

    @Test func `A folder that cannot be one is refused`() async throws {
        try await SharedTrip.run { trip in
            try trip.tree.write("a file", to: "home/paris")
            let error = await #expect(throws: MirrorError.self) { try await trip.mirror().run() }
            #expect(error?.code == .notAFolder)
            #expect(trip.server.requests.isEmpty)
        }
    }

    @Test func `A photo whose link has ended is gone on from by a new one`() async throws {
        try await SharedTrip.run(photos: 1) { trip in
            let bytes = [UInt8].noise(300_000)
            trip.publish([SharedTrip.Photo(index: 0, bytes: bytes)])
            trip[SharedTrip.path(0)]?.cut = 200_000
            _ = try await trip.mirror(attempts: 1).run()
            trip[SharedTrip.path(0)] = WebServer.Answer("expired", status: 403)
            let second = try await trip.mirror().run()
            #expect(second.failures.count == 1 && "\(second.failures[0].error)".contains("link to this photo"))
            trip[SharedTrip.path(0)] = WebServer.Answer(bytes)
            trip.server.forgetRequests()
            let third = try await trip.mirror().run()
            #expect(third.isComplete)
            let ranges = trip.server.requests.compactMap { $0.headers["range"] }
            #expect(ranges.count == 1 && ranges[0].hasSuffix("-299999") && ranges[0] != "bytes=0-299999")
        }
    }

    @Test func `A photo that comes back to its place is not fetched again`() async throws {
        try await SharedTrip.run(photos: 1) { trip in
            let (one, other) = (trip.photos(1), [SharedTrip.Photo(index: 0, bytes: .noise(900, seed: 44))])
            for photos in [one, other] {
                trip.publish(photos)
                let result = try await trip.mirror().run()
                #expect(result.downloaded.count == 1)
            }
            let names = try trip.names()
            trip.server.forgetRequests()
            for photos in [one, other, one] {
                trip.publish(photos)
                let result = try await trip.mirror().run()
                #expect(result.downloaded.isEmpty && result.alreadyThere == 1 && result.isComplete)
            }
            let after = try trip.names()
            #expect(trip.photoRequests.isEmpty && after == names)
            // What the person did to the first meanwhile is known, too.
            trip.publish(other)
            _ = try await trip.mirror().run()
            unlink(trip.destination.appending(Self.names[0]).string)
            trip.publish(one)
            let deleted = try await trip.mirror().run()
            #expect(deleted.kept.map(\.reason) == [.deleted] && trip.photoRequests.isEmpty)
        }
    }
}
