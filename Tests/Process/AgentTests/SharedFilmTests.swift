import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// A vacation with films: what is stored, what others get, and what it tells.
struct SharedFilmTests {
    private static let names = ["1.mp4", "2.mov"]
    private static let secrets = ["34.6937", "135.5023", "Acme", "iPhone", "ISO6709"]

    private func film(_ name: String) throws -> [UInt8] { try SamplePhoto.fixture("films/\(name)") }

    private func takeTrip(_ home: AgentHome) async throws {
        let folder = home.vacations.appending(AgentHome.trip)
        try folder.appending("1.mp4").create(film("place.mp4"))
        try folder.appending("2.mov").create(film("apple.mov"))
        try home.photo(0).create(SamplePhoto.taken(0))
        _ = try await home.pass()
    }

    private func traces(_ bytes: [UInt8]) -> [String] {
        Self.secrets.filter { bytes.firstRange(of: Array($0.utf8)) != nil }
    }

    @Test func `films are shared beside photos, come to a friend whole, and tell nobody where they were taken`()
        async throws
    {
        let home = try AgentHome()
        try await takeTrip(home)
        let entry = try #require(try await home.photo(home.vacations.appending(AgentHome.trip).appending("2.mov")))
        #expect(entry.state == "uploaded" && entry.width == 64 && entry.height == 48)
        #expect(entry.takenAt == "2024-06-15T14:21:07+09:00")
        #expect(entry.durationSeconds == 1.2)

        let share = try await home.share()
        #expect(share.photoCount == 3 && share.skipped.isEmpty)
        let id = try #require(share.shareId)
        let objects = try home.store.objects().filter { $0.key.hasPrefix("shares/\(id)/") }
        let films = objects.filter { $0.key.hasSuffix(".mp4") || $0.key.hasSuffix(".mov") }
        #expect(films.count == 2)
        for object in objects { #expect(traces(try home.store.bytes(of: object)) == [], "\(object.key)") }
        let page = String(
            decoding: try home.store.bytes(of: try #require(objects.first { $0.key.hasSuffix("index.html") })),
            as: UTF8.self)
        #expect(page.contains("<video ") && page.contains("0:01"))
        // In CI, ffmpeg is there.
        if !Tool.ffmpeg.isMissing {
            #expect(objects.count { $0.key.contains("/thumbnails/") } == 3)
            #expect(page.contains(" poster=\"thumbnails/"))
        }

        let mirror = try await home.mirror(id, to: "Paris")
        #expect(mirror.downloaded == 3)
        let files = try home.mirrorFiles("Paris")
        let arrived = files.filter { $0.hasSuffix(".mp4") || $0.hasSuffix(".mov") }.sorted()
        #expect(arrived.count == 2)
        for name in arrived {
            let bytes = try home.friendsFolder("Paris").appending(name).bytes
            #expect(traces(bytes) == [], "\(name)")
            let original = try film(name.hasSuffix(".mov") ? "apple.mov" : "place.mp4")
            #expect(bytes.count == original.count)
            #expect(bytes.firstRange(of: Array("mdat".utf8)) == original.firstRange(of: Array("mdat".utf8)))
        }
        // Nothing is left of a share that was taken back.
        #expect(try await home.run("shares", "--revoke", id, "--yes").code == 0)
        #expect(try home.store.objects().filter { $0.key.hasPrefix("shares/\(id)/") }.isEmpty)
    }

    /// A film in fragments, of which nothing can be taken out.
    private var fragmented: [UInt8] { get throws { try film("place.mp4") + [0, 0, 0, 8] + Array("moof".utf8) } }

    @Test func `a film of which nothing can be taken out is refused by the dry run as by the share`() async throws {
        let home = try AgentHome()
        try await takeTrip(home)
        let path = home.vacations.appending(AgentHome.trip).appending("3.mp4")
        try path.create(fragmented)
        let words = "what it tells of you besides its pictures cannot be taken out of this film"
        // Before it is stored, when it is, and when the vacation is shared already.
        for round in 0..<3 {
            for option in ["--dry-run", "--yes"] {
                let answer = try await home.share(option, AgentHome.trip, code: 3)
                #expect(answer.photoCount == 3 && answer.skipped.map(\.reason) == [words], "\(round) \(option)")
                #expect(answer.skipped.map(\.path) == [path.string], "\(round) \(option)")
            }
        }
        // Whoever has seen the folder as it is shared finds nothing new in it.
        let shares = try await home.run("shares", "--json")
        #expect(String(decoding: shares.output, as: UTF8.self).contains("\"changedBy\" : 0"), "\(shares.text)")
    }

    @Test func `where nothing can be shared, the dry run ends as the share does`() async throws {
        let home = try AgentHome()
        try home.vacations.appending(AgentHome.trip).appending("3.mp4").create(fragmented)
        _ = try await home.pass()
        let ends = [
            try await home.run("share", "--dry-run", AgentHome.trip),
            try await home.run("share", "--yes", AgentHome.trip),
        ]
        #expect(ends.map(\.code) == [1, 1])
        #expect(ends[0].complaint == ends[1].complaint)
        #expect(ends[0].complaint.contains("cannot be taken out of this film"))
        #expect(try home.store.objects().contains { $0.key.hasPrefix("shares/") } == false)
    }

    @Test func `without ffmpeg a film is shared without a picture`() async throws {
        let home = try AgentHome(environment: ["PATH": "/nonexistent"])
        try await takeTrip(home)
        let share = try await home.share()
        #expect(share.photoCount == 3 && share.skipped.isEmpty)
        let id = try #require(share.shareId)
        let thumbnails = try home.store.objects().filter { $0.key.hasPrefix("shares/\(id)/thumbnails/") }
        #expect(thumbnails.count == 1)
        let again = try await home.share()
        #expect(again.shareId == id)
    }

    @Test func `with strip_location the stored film itself tells no place, and is shared all the same`() async throws {
        let home = try AgentHome(more: "photos:\n  strip_location: true")
        try await takeTrip(home)
        let stored = try home.store.objects().filter { $0.key.hasPrefix("users/") && $0.key.contains("/photos/") }
        #expect(stored.count == 3)
        for object in stored {
            let bytes = try home.store.bytes(of: object)
            for secret in ["34.6937", "135.5023"] {
                #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(object.key)")
            }
        }
        let entry = try #require(try await home.photo(home.vacations.appending(AgentHome.trip).appending("1.mp4")))
        #expect(entry.dropped == ["position"])
        #expect(try await home.share().photoCount == 3)
    }

    @Test func `a film whose maker wrote many keys of metadata still plays when they are taken out`() async throws {
        guard !Tool.ffmpeg.isMissing else { return }
        let home = try AgentHome()
        try home.vacations.appending(AgentHome.trip).appending("1.mov").create(film("keys.mov"))
        _ = try await home.pass()
        _ = try await home.mirror(try #require(try await home.share().shareId), to: "Paris")
        let arrived = try #require(try home.mirrorFiles("Paris").first { $0.hasSuffix(".mov") })
        // It decodes all pictures, and ends with an error where it cannot: version 5.1 reads on at a wrong place behind
        // a key of a kind that it does not know.
        let sums = try await Tool.run(
            FilePath(Tool.ffmpeg.rawValue),
            ["-v", "error", "-i", home.friendsFolder("Paris").appending(arrived).string, "-f", "framemd5", "-"],
            home: home)
        #expect(String(decoding: sums, as: UTF8.self).split(separator: "\n").count { !$0.hasPrefix("#") } == 30)
        #expect(traces(try home.friendsFolder("Paris").appending(arrived).bytes) == [])
    }
}
