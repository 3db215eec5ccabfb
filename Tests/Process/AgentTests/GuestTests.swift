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

    /// Its agent shows shares to guests.
    private func showingHome() throws -> AgentHome {
        try AgentHome(
            restoring: 0,
            more: #"serve: {enabled: true, listen: "127.0.0.1:0", base_url: "http://127.0.0.1:1"}"#)
    }

    private func page(of share: String, by agent: ChildProcess) async throws -> String {
        let line = try await agent.logged { $0.contains("the gallery is at ") }
        let port = try #require(line.split(separator: "http://127.0.0.1:").last?.prefix { $0 != "/" })
        return "http://127.0.0.1:\(port)/s/\(share)/"
    }

    /// Takes the lock under which photos of a share's guests are taken in, as another process does.
    private func hold(_ share: String, at home: AgentHome) throws -> FileDescriptor {
        let box = try home.tree.makeFolder("state/sync-agent/guests/\(share)")
        let folder = try FileDescriptor.open(box, .readOnly, options: [.directory, .closeOnExec])
        guard flock(folder.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
        return folder
    }

    /// A guest sends a photo to each of these shares, whose locks are held, and the agent ends.
    private func send(to shares: [String], at home: AgentHome) async throws {
        let agent = try home.start(["run"])
        for (number, share) in shares.enumerated() {
            let base = try await page(of: share, by: agent)
            let photo = home.tree.path("guest-\(number).jpg")
            try photo.create(SamplePhoto.unique(80 + number))
            let options = ["-H", "Content-Type: image/jpeg", "--data-binary", "@\(photo.string)"]
            #expect(try await ask(home, base, []) == 200)
            #expect(try await ask(home, base + "guests", options) == 201)
        }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `a share whose photos another process takes in keeps no other share's from coming in`() async throws {
        let home = try showingHome()
        try await home.takeTrip(photos: 2)
        let first = try #require(try await home.share("--guests", AgentHome.trip).shareId)
        let second = try #require(try await home.share("--guests", "--photos", "0", AgentHome.trip).shareId)
        let locks = try [first, second].map { try hold($0, at: home) }
        try await send(to: [first, second], at: home)
        try locks[1].close()
        let refreshed = try await home.run("guests", "--refresh")
        #expect(refreshed.code == 3, "\(refreshed.complaint)")
        #expect(refreshed.complaint.contains(first) && !refreshed.complaint.contains(second))
        #expect(try await guests(home).map(\.shareId) == [second])
        try locks[0].close()
        #expect(try await home.run("guests", "--refresh").code == 0)
        #expect(try await Set(guests(home).map(\.shareId)) == [first, second])
    }

    @Test func `who revokes another machine's share waits for the process that takes its guests' photos in`()
        async throws
    {
        let home = try showingHome()
        try await home.takeTrip(photos: 2)
        let id = try #require(try await home.share("--guests", AgentHome.trip).shareId)
        let lock = try hold(id, at: home)
        try await send(to: [id], at: home)
        try lock.close()
        let other = try AgentHome(store: "{type: directory, path: \(home.store.root)}")
        let taking = try hold(id, at: other)
        let revoke = try other.start(["shares", "--revoke", id, "--yes"])
        try await eventually("the manifest to be gone") { () -> Void? in
            // Records go while they are listed.
            guard let records = try? home.store.recordPaths() else { return nil }
            return records.contains { $0.string.contains("\(id)/vacation") } ? nil : ()
        }
        try taking.close()
        let revoked = try await revoke.finished()
        #expect(revoked.code == 0 && revoked.text.contains("Revoked"), "\(revoked.complaint)")
        #expect(try await guests(other).map(\.shareId) == [id])
    }

    @Test func `a guest's photo is seen by nobody before it is accepted, and is stored then`() async throws {
        let home = try showingHome()
        try await home.takeTrip(photos: 2)
        let export = home.tree.path("page").string
        #expect(try await home.run("share", "--guests", "--export", export, "--yes", AgentHome.trip).code == 64)
        let id = try #require(try await home.share("--guests", AgentHome.trip).shareId)
        let agent = try home.start(["run"])
        let base = try await page(of: id, by: agent)
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
