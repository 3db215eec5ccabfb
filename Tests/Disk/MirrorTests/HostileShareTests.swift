import Glibc
import SyncCore
import SyncDigest
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What somebody can serve who wants to write outside of the folder, fill the disk, reach other hosts through us, or stop
/// us for ever. The manifests themselves are a table in `ShareManifestRulesTests`.
@Suite struct HostileShareTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the error says.
        let reason: String
        /// Whether it is one photo that is bad, and the others come.
        var isOfPhoto = false
        let prepare: @Sendable (SharedTrip) -> Void

        init(
            _ name: String, says reason: String, ofPhoto isOfPhoto: Bool = false,
            _ prepare: @escaping @Sendable (SharedTrip) -> Void
        ) {
            testDescription = name
            self.reason = reason
            self.isOfPhoto = isOfPhoto
            self.prepare = prepare
        }

        static func manifest(_ name: String, says reason: String, _ changes: [String: String]) -> Case {
            Case(name, says: reason) { $0.publish($0.photos(4), changes: changes) }
        }

        static func page(_ name: String, says reason: String, href: String) -> Case {
            Case(name, says: reason) {
                $0[SharedTrip.folder + "index.html"] = WebServer.Answer(
                    "<link rel=alternate type=application/vnd.sync-agent.share+json href=\"\(href)\">")
            }
        }

        static func photo(
            _ name: String, says reason: String, _ change: @escaping @Sendable (inout WebServer.Answer) -> Void
        ) -> Case {
            Case(name, says: reason, ofPhoto: true) { trip in
                if var answer = trip[SharedTrip.path(1)] {
                    change(&answer)
                    trip[SharedTrip.path(1)] = answer
                }
            }
        }

        static func redirect(_ name: String, says reason: String, path: String, to target: String) -> Case {
            Case(name, says: reason, ofPhoto: path.hasSuffix(".jpg")) {
                $0[path] = WebServer.Answer("", status: 302, headers: ["Location": target])
            }
        }
    }

    private static let page = SharedTrip.folder + "index.html"
    private static let manifest = SharedTrip.folder + "vacation.json"

    static let cases: [Case] = [
        // Manifests
        .manifest("absolute path in the id", says: "no share id", [SharedTrip.id: "/etc/cron.d/x"]),
        .manifest("path in the id", says: "no share id", [SharedTrip.id: "../../outside/precious"]),
        .manifest("another id", says: "another share", [SharedTrip.id: "00000000-0000-4000-8000-000000000000"]),
        .manifest("path as day", says: "startDate", ["2024-06-15\",\"end": "../../../../x\",\"end"]),
        .manifest("path as capture time", says: "takenAt", ["2024-06-15T09:30:00Z": "../../x"]),
        .manifest("path as number", says: "orderIndex", ["\"orderIndex\":1": "\"orderIndex\":\"../x\""]),
        .manifest("path as digest", says: "sha256", ["\"sha256\":\"": "\"sha256\":\"../"]),
        .manifest("two of one number", says: "two of its photos", ["\"orderIndex\":1": "\"orderIndex\":0"]),
        .manifest("a billion photos", says: "more than 10000", ["\"photoCount\":4": "\"photoCount\":1000000000"]),
        .manifest("a terabyte", says: "size", ["\"size\":2001": "\"size\":1099511627776"]),
        .manifest("less than nothing", says: "size", ["\"size\":2001": "\"size\":-1"]),
        .manifest("infinite", says: "number", ["\"size\":2001": "\"size\":1e999"]),
        .manifest("no number", says: "no JSON", ["\"size\":2001": "\"size\":NaN"]),
        .manifest("newer", says: "update", ["\"version\":1": "\"version\":7"]),
        .manifest(
            "photo elsewhere", says: "another host", ["\"width\":4": "\"width\":4,\"url\":\"http://evil.example/\""]),
        .manifest(
            "photo on this machine", says: "another host, http://127.0.0.1:1",
            ["\"width\":4": "\"width\":4,\"url\":\"http://127.0.0.1:1/\""]),
        .manifest(
            "photo by another name of this machine", says: "another host, http://localhost",
            ["\"width\":4": "\"width\":4,\"url\":\"http://localhost/\""]),
        .manifest(
            "photo in a file", says: "no http(s) link", ["\"width\":4": "\"width\":4,\"url\":\"file:///etc/passwd\""]),
        Case("deep nesting", says: "too deeply") {
            $0[manifest] = WebServer.Answer(String(repeating: "{\"a\":", count: 200_000))
        },
        Case("no JSON", says: "no JSON") { $0[manifest] = WebServer.Answer("{]") },
        Case("neither page nor manifest", says: "neither the page nor the manifest") {
            $0[page] = WebServer.Answer([0xFF, 0xD8, 0xFF])
        },
        Case("packed manifest", says: "packed (gzip)") {
            $0[manifest] = WebServer.Answer(
                [0x1F, 0x8B, 8, 0], headers: ["Content-Encoding": "gzip"])
        },
        Case("endless manifest", says: "longer than 4194304 bytes") {
            $0[manifest] = WebServer.Answer(.noise(65_536))
            $0[manifest]?.isEndless = true
        },
        Case("endless page", says: "longer than 4194304 bytes") {
            $0[page] = WebServer.Answer(String(repeating: "<", count: 65_536))
            $0[page]?.isEndless = true
        },
        Case("endless head", says: "head") {
            let headers = (0..<5_000).map { ("X-\($0)", String(repeating: "x", count: 100)) }
            $0[page] = WebServer.Answer("<", headers: Dictionary(uniqueKeysWithValues: headers))
        },
        // Pages
        .page("page to a file", says: "no http(s) link", href: "file:///etc/passwd"),
        .page("page to a script", says: "no http(s) link", href: "javascript:alert(1)"),
        .page("page to another host", says: "another host, http://evil.example", href: "//evil.example/v.json"),
        .page("page to another port", says: "another host, http://127.0.0.1:1", href: "http://127.0.0.1:1/"),
        .page("page with a hidden user", says: "no http(s) link", href: "http://127.0.0.1:80@evil.example/"),
        Case("page of something else", says: "not that of a share") {
            $0[page] = WebServer.Answer("<html>Welcome to the hotel's wireless network")
            $0[manifest] = nil
        },
        // Redirects
        .redirect("to another host", says: "another host", path: page, to: "https://evil.example/"),
        .redirect(
            "to this machine by name", says: "another host, http://localhost", path: page, to: "http://localhost/"),
        .redirect(
            "to the metadata of a cloud", says: "another host", path: manifest, to: "http://169.254.169.254/latest/"),
        .redirect("to a file", says: "no http(s) link", path: manifest, to: "file:///etc/passwd"),
        .redirect("in a circle", says: "more than 3 times", path: page, to: page),
        .redirect("of a photo to another host", says: "another host", path: SharedTrip.path(1), to: "//evil.example/a"),
        .redirect("of a photo in a circle", says: "more than 3", path: SharedTrip.path(1), to: SharedTrip.path(1)),
        // Photos
        .photo("wrong bytes", says: "another was expected") { $0.body = .noise(2_001, seed: 77) },
        .photo("too short", says: "has 9 bytes there, and the manifest says 2001") { $0.body = .noise(9) },
        .photo("too long", says: "the manifest says 2001") { $0.body += [1] },
        .photo("endless", says: "goes on after the 2001 bytes") { $0.isEndless = true },
        .photo("cut", says: "broke") { $0.cut = 500 },
        .photo("a lie about the length", says: "bytes there") { $0.length = 1 << 40 },
        .photo("packed", says: "another was expected") { answer in
            answer.headers["Content-Encoding"] = "gzip"
            answer.body = .noise(2_001, seed: 3)
        },
        .photo("for those with a password", says: "user and password") { $0.status = 401 },
    ]

    @Test(arguments: cases)
    func `Nothing is written where it should not be, and the reason is told`(hostile: Case) async throws {
        try await SharedTrip.run { trip in
            hostile.prepare(trip)
            let before = try trip.outside()
            var told: [String] = []
            do {
                let result = try await trip.mirror().run()
                told = result.failures.map { "\($0.name): \($0.error)" } + (result.obstacle.map { ["\($0)"] } ?? [])
                #expect(hostile.isOfPhoto && !result.isComplete && result.failed > 0)
                let names = try trip.names()
                let isClean = names.allSatisfy { $0.hasSuffix("_2024-06-15_Paris.jpg") || $0.hasSuffix(".json") }
                #expect(isClean || hostile.testDescription == "cut", "\(names)")
                #expect(!names.contains("002_2024-06-15_Paris.jpg"))
            } catch {
                told = ["\(error)"]
                #expect(!hostile.isOfPhoto, "\(error)")
                // Not even the folder is made.
                let isThere = try trip.tree.files().contains { $0.hasPrefix("home/") }
                #expect(!isThere)
            }
            #expect(told.contains { $0.contains(hostile.reason) }, "\(told)")
            let after = try trip.outside()
            #expect(before == after)
            #expect(trip.server.requests.count < 30)
        }
    }

    @Test func `A name has nothing of the manifest but letters, marks and digits`() async throws {
        try await SharedTrip.run(photos: 1) { trip in
            trip.publish(
                trip.photos(1), changes: ["\"Paris\"": #""../../outside/\u0000\u001b[2J\u202eprecious.jpg/..\n""#])
            let before = try trip.outside()
            let result = try await trip.mirror().run()
            #expect(result.downloaded == ["001_2024-06-15_outside_2Jprecious_jpg.jpg"])
            let after = try trip.outside()
            #expect(before == after)
        }
    }

    @Test(arguments: [
        "../../outside/precious.jpg", "/etc/cron.d/x", "..", ".bashrc", ".sync-agent-mirror.json", "vacation.json",
        "-rf.jpg",
        "a\\u0000b.jpg", "precious.jpg\\u202e", "mine.jpg",
    ])
    func `A name that a share tells is that of a new photo in this folder, or is not taken`(name: String) async throws {
        try await SharedTrip.run(photos: 2) { trip in
            trip.publish(trip.photos(2), changes: ["\"width\":4": "\"width\":4,\"name\":\"\(name)\""])
            try trip.tree.write("mine", to: "home/paris/mine.jpg")
            let before = try trip.outside()
            let options = ShareMirror.Options(isForced: true, keepsNames: true)
            _ = try await trip.mirror(nil, options).run()
            let after = try trip.outside()
            #expect(before == after)
            let mine = try trip.read("mine.jpg")
            #expect(mine == Array("mine".utf8))
            let names = try trip.names()
            let photos = names.filter { ![".sync-agent-mirror.json", "vacation.json", "mine.jpg"].contains($0) }
            #expect(photos.allSatisfy { $0.hasSuffix(".jpg") && !$0.hasPrefix(".") && !$0.hasPrefix("-") }, "\(names)")
            // Where a file of this person has it, the photo comes under the mirror's own.
            #expect(photos.count == 2, "\(names)")
            if name == "mine.jpg" { #expect(names.contains("001_2024-06-15_Paris.jpg")) }
            let again = try await trip.mirror(nil, options).run()
            #expect(again.downloaded.isEmpty)
        }
    }

    @Test func `A memory that somebody prepared cannot name other files of the folder`() async throws {
        try await SharedTrip.run(photos: 1) { trip in
            let digest = SHA256Digest(of: trip.photos(1)[0].bytes)
            try trip.tree.write("mine", to: "home/paris/notes.txt")
            try trip.tree.write(
                """
                {"version":1,"shareId":"\(SharedTrip.id)","isComplete":true,"earlier":{},"photos":
                {"0":{"name":"notes.txt","sha256":"\(digest)","size":2000,"modified":1}}}
                """, to: "home/paris/.sync-agent-mirror.json")
            let result = try await trip.mirror(nil, ShareMirror.Options(isForced: true)).run()
            #expect(result.downloaded == ["001_2024-06-15_Paris.jpg"] && result.notes.isEmpty)
            let notes = try trip.read("notes.txt")
            #expect(notes == Array("mine".utf8))
        }
    }

    @Test func `A link in the place of the folder is not followed by a run that has begun`() async throws {
        try await SharedTrip.run { trip in
            let before = try trip.outside()
            let (home, outside) = (trip.tree.path("home"), trip.tree.path("outside"))
            trip.beforeAnswer { request in
                guard request.target.hasSuffix(".jpg") else { return }
                trip.beforeAnswer(nil)
                rename(home.appending("paris").string, home.appending("moved").string)
                symlink(outside.string, home.appending("paris").string)
            }
            let result = try await trip.mirror().run()
            #expect(result.isComplete)
            unlink(home.appending("paris").string)
            rename(home.appending("moved").string, home.appending("paris").string)
            let after = try trip.outside()
            #expect(before == after)
            let again = try await trip.mirror().run()
            #expect(again.alreadyThere == 4 && again.downloaded.isEmpty)
        }
    }

    @Test func `A redirect within the host is followed`() async throws {
        try await SharedTrip.run { trip in
            trip["/short"] = WebServer.Answer("", status: 301, headers: ["Location": SharedTrip.folder + "index.html"])
            let result = try await trip.mirror(trip.server.origin + "/short").run()
            #expect(result.isComplete && result.downloaded.count == 4)
        }
    }

    @Test func `A photo in the store that is longer than its manifest says is not read to its end`() async throws {
        let tree = try TemporaryTree()
        let store = InMemoryStore()
        let id = try #require(ShareID(SharedTrip.id))
        let keys = ShareKeys(id)
        let bytes = [UInt8].noise(10)
        let manifest = """
            {"version":1,"shareId":"\(id)","locationName":"Paris","startDate":"2024-06-15","endDate":"2024-06-22",
            "photoCount":1,"sharedBy":null,"expiresAt":"2026-02-01T00:00:00Z","updatedAt":"2025-12-01T00:00:00Z",
            "photos":[{"orderIndex":0,"width":4,"height":3,"size":10,"sha256":"\(SHA256Digest(of: bytes))",
            "takenAt":null}]}
            """
        try await store.store(Array(manifest.utf8), at: keys.manifest)
        try await store.store(bytes + bytes, at: keys.photo(0))
        let mirror = ShareMirror(
            StoredShareSource(id, in: store), asked: id, to: tree.path("paris"),
            pool: BlockingPool(name: "mirror", threads: 1),
            time: TimeSource(now: { SharedTrip.now }, monotonic: { .zero }, sleep: { _ in }, random: { 0 }))
        let result = try await mirror.run()
        #expect(result.failures.count == 1 && "\(result.failures[0].error)".contains("the manifest"))
        try await store.store(bytes, at: keys.photo(0))
        let second = try await mirror.run()
        #expect(second.isComplete && second.downloaded == ["001_2024-06-15_Paris.jpg"])
        try await store.store([UInt8](repeating: 0x20, count: 5 << 20), at: keys.manifest)
        await #expect(throws: ShareRefusal.self) { try await mirror.run() }
    }
}
