import Foundation
import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Guests of a share, through the built program: what they send, who sees it, and what becomes of it.
struct GuestTests {
    private struct Guests: Decodable {
        struct Photo: Decodable {
            let shareId: String
            let number: Int
            let state: String
            let path: String?
        }

        let photos: [Photo]
    }

    private func guests(_ home: AgentHome, _ arguments: String...) async throws -> [Guests.Photo] {
        try await home.answer(["guests", "--json"] + arguments, as: Guests.self).photos
    }

    private func ask(_ home: AgentHome, _ url: String, _ options: [String]) async throws -> Int {
        let code = try await Tool.run(
            "/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + options + [url], home: home)
        return Int(String(decoding: code, as: UTF8.self)) ?? 0
    }

    @Test func `a guest's photo is seen by nobody before it is accepted, and is stored then`() async throws {
        let home = try AgentHome(
            restoring: 0,
            more: #"serve: {enabled: true, listen: "127.0.0.1:0", base_url: "http://127.0.0.1:1"}"#)
        try await home.takeTrip(photos: 2)
        let export = home.tree.path("page").string
        #expect(try await home.run("share", "--guests", "--export", export, "--yes", AgentHome.trip).code == 64)
        let id = try #require(try await home.share("--guests", AgentHome.trip).shareId)
        let agent = try home.start(["run"])
        let line = try await agent.logged { $0.contains("the gallery is at ") }
        let port = try #require(line.split(separator: "http://127.0.0.1:").last?.prefix { $0 != "/" })
        let base = "http://127.0.0.1:\(port)/s/\(id)/"
        let photo = home.tree.path("guest.jpg")
        try photo.create(SamplePhoto.unique(77) + [UInt8](repeating: 0, count: 100_000))
        let send = ["-H", "Content-Type: image/jpeg", "--data-binary", "@\(photo.string)"]
        // Nobody has looked at the page yet: a body of this size is read for no other.
        #expect(try await ask(home, base + "guests", send) == 413)
        #expect(try await ask(home, base, []) == 200)
        #expect(try await ask(home, base + "guests", []) == 204)
        #expect(try await ask(home, base + "guests", send + ["-H", "Origin: http://evil.example"]) == 404)
        #expect(try await ask(home, base + "guests", ["-H", "Content-Type: text/html", "--data-binary", "<b>"]) == 415)
        #expect(try await ask(home, base + "guests", send) == 201)
        for path in ["guests/0", "guests/0/", "guests/0.jpg"] { #expect(try await ask(home, base + path, []) == 404) }
        let waiting = try await eventually("the photo to wait") {
            let photos = try await guests(home)
            return photos.isEmpty ? nil : photos
        }
        #expect(waiting.map(\.number) == [0] && waiting.map(\.state) == ["waiting"])
        #expect(try await home.run("status").text.contains("1 photo from guests waits"))
        let accepted = try await guests(home, id, "--accept")
        let file = FilePath(try #require(accepted.first?.path))
        #expect(try file.bytes == photo.bytes)
        #expect(try await agent.outcome(of: file) == .stored)
        #expect(try await guests(home).isEmpty)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `where nobody could reach the page, guests are not asked for`() async throws {
        let home = try AgentHome(restoring: 0)
        try await home.takeTrip(photos: 1)
        let run = try await home.run("share", "--guests", "--yes", AgentHome.trip)
        #expect(run.code == 64 && run.complaint.contains("serve.base_url"))
        #expect(try await home.shares().isEmpty)
        #expect(try await home.run("guests", "--accept").code == 64)
        #expect(try await home.run("guests", "--photos", "1").code == 64)
    }
}
