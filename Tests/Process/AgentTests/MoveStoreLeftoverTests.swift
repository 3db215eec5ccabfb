import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What a killed move or a damaged disk has left for the next `move-store`, by the program.
struct MoveStoreLeftoverTests {
    private func isThere(_ file: FilePath) -> Bool { FileManager.default.fileExists(atPath: file.string) }

    @Test(arguments: [true, false])
    func `what a killed move has left beside the configuration goes with the next one`(isLink: Bool) async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let config = home.tree.path("config.yaml")
        var part = home.tree.path(".config.yaml.sync-agent-part")
        if isLink {
            let real = try home.tree.makeFolder("dotfiles").appending("mine.yaml")
            try FileManager.default.moveItem(atPath: config.string, toPath: real.string)
            try FileManager.default.createSymbolicLink(atPath: config.string, withDestinationPath: real.string)
            part = real.removingLastComponent().appending(".mine.yaml.sync-agent-part")
        }
        // Between the exchange of the configuration and all that follows: the old text has the hidden name.
        let old = try config.bytes
        let (state, saved) = (home.tree.path("state/sync-agent"), home.tree.path("saved"))
        let new = home.tree.path("new")
        try FileManager.default.copyItem(atPath: state.string, toPath: saved.string)
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: saved.string, toPath: state.string)
        try part.create(old)

        #expect(try await home.run("move-store", "--dry-run", new.string).code == 0)
        #expect(isThere(part), "nothing is changed")
        let held = try HeldObject(lock: part)
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        #expect(isThere(part), "somebody is at it")
        held.release()
        #expect(try await home.run("move-store", "--adopt", "--yes").code == 0)
        #expect(!isThere(part))
        #expect(try await home.pass().uploaded == 0)
    }

    @Test(arguments: ["cleanup.lock", "forget.lock"])
    func `nothing is moved while a cleanup is at work, or something is deleted`(lock: String) async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let new = home.tree.path("new")
        let held = try HeldAgentLock(lock, of: home)
        #expect(try await home.run("move-store", "--dry-run", new.string).code == 0)
        #expect(try await home.run("move-store", "--yes", new.string).code == 75)
        #expect(!isThere(new))
        held.release()
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
    }

    @Test(arguments: ["cleanup.lock", "forget.lock"])
    func `nobody goes on with another store while a cleanup is at work, or something is deleted`(
        lock: String
    ) async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let (old, new) = (home.store.root, home.tree.path("renamed"))
        try FileManager.default.moveItem(atPath: old.string, toPath: new.string)
        let text = try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
        try home.configure(text.replacingOccurrences(of: "path: \(old)", with: "path: \(new)"))
        let held = try HeldAgentLock(lock, of: home)
        #expect(try await home.run("move-store", "--adopt", "--yes").code == 75)
        held.release()
        #expect(try await home.run("move-store", "--adopt", "--yes").code == 0)
    }

    @Test func `a gallery that is open ends when all is moved: it has the old store in hand`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let gallery = try await ShownGallery.shown(by: home, ["serve"])
        #expect(try await home.run("move-store", "--yes", home.tree.path("new").string).code == 0)
        let ended = try await gallery.process.finished()
        #expect(ended.code == 78 && ended.complaint.contains("start the gallery again"))
    }

    @Test func `a move that has come to its end is no error when it is run once more`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let refused = try await home.run("move-store", "--yes", home.store.root.string)
        #expect(refused.code == 64 && refused.complaint.contains("has already"), "\(refused)")
        let new = home.tree.path("new")
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        // As one that was killed before it could say so.
        let again = try await home.run("move-store", "--yes", new.string)
        #expect(again.code == 0 && again.text.contains("\(new)"), "\(again)")
        #expect(try await home.pass().uploaded == 0)
    }

    @Test(arguments: S3Server.available)
    func `a move that is run once more is not in its own way where the bucket has lost its id`(server: S3Server)
        async throws
    {
        try await server.makeBucket()
        let home = try AgentHome(environment: server.credentials)
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let move = [
            "move-store", "--yes", "s3://\(server.bucket)/backup", "--endpoint", server.endpoint, "--region",
            "us-east-1",
        ]
        #expect(try await home.start(move).finished().code == 0)
        try await server.delete("sync-agent-store.json")
        let again = try await home.start(move).finished()
        #expect(again.code == 0, "\(again)")
        #expect(try await home.pass().uploaded == 0)
    }

    @Test func `of a record that cannot be read the message names what lets the move go on`() async throws {
        let home = try AgentHome()
        for number in 0..<2 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        _ = try await home.pass()
        let file = home.gallery.appending("1.jpg")
        let key = try #require(try await home.photo(file)?.key)
        let record = home.store.root.appending("records").pushing(FilePath("\(key)~.json"))
        try record.overwrite(Array("not JSON".utf8))
        try FileManager.default.removeItem(atPath: file.string)
        _ = try await home.run("sync")

        let new = home.tree.path("new")
        let held = try await home.run("move-store", "--yes", new.string)
        #expect(held.code == 3 && held.text.contains("not copied"), "\(held)")
        #expect(held.text.contains("the record \(record) cannot be read; check the disk"), "\(held)")
        #expect(held.text.contains("Where it is not, move the record out of the store: "), "\(held)")
        // As it is told.
        try FileManager.default.moveItem(atPath: record.string, toPath: home.tree.path("record").string)
        let moved = try await home.run("move-store", "--yes", new.string)
        #expect(
            moved.code == 3 && moved.text.contains("1 object that this machine knows is in neither store"), "\(moved)")
        #expect(moved.text.contains("The configuration names \(new) now"), "\(moved)")
        #expect(isThere(home.store.root.appending("objects").pushing(FilePath(key))))
    }
}
