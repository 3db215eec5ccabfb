import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Pictures that are no JPEG, from the folder to the friend, with the decoder that lies beside the program.
struct PictureTests {
    private static let kinds = [
        "plain.heic", "plain.avif", "turned.png", "plain.webp", "turned.tif", "plain.gif", "plain.bmp", "preview.dng",
    ]

    private func home() throws -> AgentHome { try AgentHome(more: "photos: {max_dimension: 64}") }

    @Test func `one of each kind is stored reduced, and half of each is named`() async throws {
        let home = try home()
        for name in Self.kinds {
            let bytes = try SamplePhoto.fixture("kinds/\(name)")
            try home.gallery.appending(name).create(bytes)
            // The preview stands in the first half.
            if name == "preview.dng" { continue }
            try home.gallery.appending("half \(name)").create(Array(bytes.prefix(bytes.count / 2)))
        }
        let finished = try await home.run("sync", "--json")
        #expect(finished.code == 3)
        for name in Self.kinds {
            let photo = try await home.photo(home.gallery.appending(name))
            #expect(photo?.state == "uploaded" && photo?.width == 64 && photo?.height == 44, "\(name)")
            if name == "preview.dng" { continue }
            let half = try await home.photo(home.gallery.appending("half \(name)"))
            #expect(half?.state == "failed" && half?.error?.isEmpty == false, "\(name)")
        }
        #expect(try await home.photo(home.gallery.appending("preview.dng"))?.dropped == ["raw"])
        let objects = try home.store.objects().filter { $0.key.contains("/photos/") }
        #expect(objects.count == Self.kinds.count && objects.allSatisfy { $0.contentType == "image/jpeg" })
    }

    /// Found by fuzzing: LibRaw 0.20 reads where it must not (parse_tiff_ifd).
    @Test func `a raw file that kills its decoder is named, and its neighbours are stored`() async throws {
        let home = try home()
        let bad = home.gallery.appending("b.dng")
        try home.gallery.appending("a.dng").create(try SamplePhoto.fixture("kinds/preview.dng"))
        try bad.create(try SamplePhoto.fixture("kills-libraw.dng"))
        try home.gallery.appending("c.heic").create(try SamplePhoto.fixture("kinds/plain.heic"))
        let finished = try await home.run("sync", "--json")
        let entry = try #require(try await home.photo(bad))
        // Where LibRaw is mended, it has no picture that could be reduced.
        #expect(finished.code == (entry.state == "failed" ? 3 : 0))
        #expect(entry.state == "failed" || entry.state == "uploaded" && entry.note != nil)
        for name in ["a.dng", "c.heic"] {
            #expect(try await home.photo(home.gallery.appending(name))?.state == "uploaded", "\(name)")
        }
    }

    @Test func `a trip of HEIC photos is shared and mirrored as JPEG`() async throws {
        let home = try home()
        let folder = home.vacations.appending(AgentHome.trip)
        for name in ["plain.heic", "tiles.heic", "mirrored.heic"] {
            try folder.appending(name).create(try SamplePhoto.fixture("kinds/\(name)"))
        }
        _ = try await home.pass()
        let share = try await home.share()
        #expect(share.photoCount == 3)
        _ = try await home.mirror(try #require(share.shareId), to: "Paris")
        let photos = try home.mirrored("Paris")
        #expect(photos.count == 3)
        for path in photos.values {
            #expect(try path.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        }
    }

    @Test func `an agent that stops leaves no decoder behind`() async throws {
        let home = try home()
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("plain.heic")
        try photo.create(try SamplePhoto.fixture("kinds/plain.heic"))
        #expect(try await agent.outcome(of: photo) == .stored)
        let decoders = try Self.decoders(of: agent.pid)
        #expect(decoders.count == 1)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        #expect(decoders.allSatisfy { !FileManager.default.fileExists(atPath: "/proc/\($0)") })
    }

    /// The decoders that a process has started.
    private static func decoders(of parent: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
            let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
            return status.contains("(sync-agent-deco") && fields.count > 1 && fields[1] == "\(parent)"
        }
    }
}
