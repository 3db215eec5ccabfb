import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Stores that are reached by another name, and photos that move to another store, by the program.
struct MoveStoreTests {
    private typealias Fields = [String: Any]

    private func answer(_ home: AgentHome, _ arguments: String..., code: Int32 = 0) async throws -> Fields {
        let finished = try await home.start(arguments).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields)
    }

    private func fill(_ home: AgentHome) async throws {
        for number in 0..<4 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        for number in 0..<2 { try home.photo(number).create(SamplePhoto.taken(number)) }
        #expect(try await home.pass().uploaded == 6)
    }

    private func configuration(_ home: AgentHome) throws -> String {
        try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
    }

    private func replace(_ old: String, by new: String, in home: AgentHome) throws {
        let text = try configuration(home)
        try #require(text.contains(old))
        try home.configure(text.replacingOccurrences(of: old, with: new))
    }

    /// Paths with what is known of them.
    private func known(_ home: AgentHome) async throws -> [String: [String?]] {
        let photos = try await home.photos(at: home.gallery) + home.photos(at: home.vacations)
        return Dictionary(uniqueKeysWithValues: photos.map { ($0.path, [$0.key, $0.state, $0.md5]) })
    }

    @Test func `a store whose folder has another name is known again, and taken only when somebody says so`()
        async throws
    {
        let home = try AgentHome()
        try await fill(home)
        let before = try await known(home)
        let (old, new) = (home.store.root, home.tree.path("renamed"))
        try FileManager.default.moveItem(atPath: old.string, toPath: new.string)
        try replace("path: \(old)", by: "path: \(new)", in: home)

        let refused = try await home.run("sync")
        #expect(refused.code == 78 && refused.complaint.contains("It is the same store"))
        #expect(refused.complaint.contains("sync-agent move-store --adopt"))
        #expect(try await home.run("status", "--json").text.contains("It is the same store"))
        #expect(try await home.run("move-store", "--adopt").code == 64, "nobody is there to be asked")
        let look = try await answer(home, "move-store", "--adopt", "--dry-run", "--json")
        #expect(look["adopted"] as? Bool == false && look["kinship"] as? String == "same")
        #expect(try await home.run("sync").code == 78)
        let taken = try await answer(home, "move-store", "--adopt", "--yes", "--json")
        #expect(taken["adopted"] as? Bool == true && taken["found"] as? Int == 6 && taken["known"] as? Int == 6)
        let pass = try await home.pass()
        #expect(pass.uploaded == 0 && pass.bytesSent == 0)
        #expect(try await known(home) == before)
    }

    @Test func `another store is not taken for the one that is known`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let other = try AgentHome()
        try other.gallery.appending("0.jpg").create(SamplePhoto.unique(9))
        _ = try await other.pass()
        try replace("path: \(home.store.root)", by: "path: \(other.store.root)", in: home)
        #expect(try await home.run("sync").complaint.contains("Correct store or user"))
        let refused = try await home.run("move-store", "--adopt", "--yes")
        #expect(refused.code == 78 && refused.complaint.contains("another store"))
        #expect(try other.store.objects().count == 1)
    }

    @Test(arguments: S3Server.available)
    func `everything moves to a bucket, shares and names with it, and a second machine follows`(
        server: S3Server
    ) async throws {
        try await server.makeBucket()
        let home = try AgentHome(environment: server.credentials)
        try await fill(home)
        let share = try #require(try await home.share().shareId)
        _ = try await home.pass()
        let before = try await known(home)
        let second = try AgentHome(
            store: "{type: directory, path: \(home.store.root)}", environment: server.credentials)
        try second.gallery.appending("theirs.jpg").create(SamplePhoto.unique(20))
        #expect(try await second.pass().uploaded == 1)

        let target = ["s3://\(server.bucket)/backup", "--endpoint", server.endpoint, "--region", "us-east-1", "--json"]
        let preview = try await home.start(["move-store", "--dry-run"] + target).finished()
        let sent = try await server.keys()
        #expect(preview.code == 0 && sent == [])
        let finished = try await home.start(["move-store", "--yes"] + target).finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        let moved = try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields)
        #expect(moved["switched"] as? Bool == true && moved["missing"] as? Int == 0 && moved["shares"] as? Int == 1)
        #expect(moved["copied"] as? Int == moved["objects"] as? Int)
        #expect(try configuration(home).contains("bucket: \(server.bucket)"))

        let pass = try await home.pass()
        #expect(pass.uploaded == 0 && pass.bytesSent == 0)
        #expect(try await known(home) == before)
        let listed = try await home.shares()
        #expect(listed.map(\.shareId) == [share] && listed.first?.link?.contains(server.bucket) == true)
        #expect(try home.store.files(below: "objects").contains { $0.string.contains("shares/") } == false)

        let section =
            "{type: s3, bucket: \(server.bucket), region: us-east-1, endpoint: '\(server.endpoint)', prefix: backup}"
        try replace("{type: directory, path: \(home.store.root)}", by: section, in: second)
        #expect(try await second.run("sync").complaint.contains("It is a copy of that store"))
        #expect(try await answer(second, "move-store", "--adopt", "--yes", "--json")["kinship"] as? String == "copy")
        #expect(try await second.pass().uploaded == 0)
    }

    @Test(arguments: 1...4)
    func `a move that is killed goes on, and nothing is in the configuration before all is there`(round: Int)
        async throws
    {
        let home = try AgentHome()
        for number in 0..<12 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        _ = try await home.pass()
        let new = home.tree.path("new")
        let move = try home.start(["move-store", "--yes", new.string])
        let target = StoreFolder(root: new)
        try await eventually("\(round * 3) copies", seen: { "\((try? target.objects().count) ?? 0)" }) {
            ((try? target.objects().count) ?? 0) >= round * 3 ? true : nil
        }
        move.send(SIGKILL)
        _ = try await move.finished()
        // The old section stays as a comment.
        let settings = try configuration(home).split(separator: "\n").filter { !$0.hasPrefix("#") }
        if !settings.contains(where: { $0.contains(new.string) }) {
            #expect(settings.contains { $0.contains(home.store.root.string) })
            #expect(try await home.pass().uploaded == 0)
            #expect(try await answer(home, "move-store", "--yes", new.string, "--json")["switched"] as? Bool == true)
        } else if try await home.run("sync").code == 78 {
            // Between the configuration and the ledger.
            #expect(try await answer(home, "move-store", "--adopt", "--yes", "--json")["kinship"] as? String == "copy")
        }
        let pass = try await home.pass()
        #expect(pass.uploaded == 0 && pass.alreadyStored == 0)
        #expect(try target.objects().count { $0.key.contains("/photos/") } == 12)
        let names = try FileManager.default.contentsOfDirectory(atPath: home.tree.path("state/sync-agent").string)
        #expect(!names.contains { $0.contains("move-") })
    }

    @Test func `what the new store lacks while it is in the archive keeps the configuration as it is`() async throws {
        let home = try AgentHome(restoring: 0, more: AgentHome.archivesAtOnce)
        try await fill(home)
        let new = home.tree.path("new")
        let half = try await answer(home, "move-store", "--yes", new.string, "--json", code: 3)
        #expect(half["switched"] as? Bool == false && half["archived"] as? Int == 6)
        #expect(try configuration(home).contains("path: \(home.store.root)"))
        #expect(try await home.run("restore", "--all", "--yes").code == 0)
        let whole = try await answer(home, "move-store", "--yes", new.string, "--json")
        #expect(whole["switched"] as? Bool == true && whole["archived"] as? Int == 0)
        #expect(try await home.pass().uploaded == 0)
        let classes = try await home.photos(at: home.gallery).map(\.storageClass)
        #expect(Set(classes) == ["DEEP_ARCHIVE"])
    }

    @Test func `what was asked of a folder goes along to the next one`() async throws {
        let home = try AgentHome(restoring: 7)
        try await fill(home)
        _ = try await answer(home, "move-store", "--yes", home.tree.path("new").string, "--json")
        let lines = try configuration(home).split(separator: "\n")
        #expect(lines.contains("  restore_seconds: 7") || lines.contains("  restore_seconds: 7s"), "\(lines)")
    }

    @Test func `what is damaged on the disk stays there, is named, and does not hold a move up`() async throws {
        let home = try AgentHome()
        try await fill(home)
        // No other photo has its content: of one that has, it would be stored again.
        let file = home.gallery.appending("alone.jpg")
        try file.create(SamplePhoto.taken(3))
        #expect(try await home.pass().uploaded == 1)
        let key = try #require(try await home.photo(file)?.key)
        let object = home.store.root.appending("objects").pushing(FilePath(key))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: object.string))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: object.string))
        try FileManager.default.removeItem(atPath: file.string)
        let new = home.tree.path("new")
        let moved = try await answer(home, "move-store", "--yes", new.string, "--json", code: 3)
        #expect(moved["switched"] as? Bool == true && moved["lost"] as? Int == 1)
        #expect((moved["damaged"] as? [Fields])?.map { $0["key"] as? String } == [key])
        // At once, before any other command looks whether the file is there.
        #expect(try await home.photo(file)?.state == "pending")
        #expect(try await home.run("status", "--check").code == 2)
        #expect(try await home.run("sync").code == 3)
        #expect(try await home.photo(file)?.state == "lost")
    }

    @Test func `a second machine runs the same command, and takes along what it has stored since, and its shares`()
        async throws
    {
        let home = try AgentHome()
        try await fill(home)
        let second = try AgentHome(store: "{type: directory, path: \(home.store.root)}")
        try second.gallery.appending("stays.jpg").create(SamplePhoto.unique(31))
        try await second.takeTrip(photos: 2)
        let share = try #require(try await second.share().shareId)
        let new = home.tree.path("new")
        _ = try await answer(home, "move-store", "--yes", new.string, "--json")
        let late = second.gallery.appending("late.jpg")
        try late.create(SamplePhoto.unique(30))
        _ = try await second.pass()
        try FileManager.default.removeItem(atPath: late.string)
        _ = try await second.pass()

        // The other way, for one whose old store is gone: what is missing is told.
        try replace("path: \(home.store.root)", by: "path: \(new)", in: second)
        let adopted = try await second.run("move-store", "--adopt", "--yes")
        #expect(adopted.code == 3 && adopted.text.contains("It lacks "))
        #expect(try await second.photo(late)?.state == "lost")
        #expect(try await second.run("move-store", "--yes", home.store.root.string).code == 0)

        let moved = try await answer(second, "move-store", "--yes", new.string, "--json")
        #expect(moved["switched"] as? Bool == true)
        _ = try await second.pass()
        #expect(try await second.photo(late)?.state == "missing")
        #expect(try await second.run("verify", "--all").code == 0)
        #expect(try await second.shares().map(\.shareId) == [share])
        let mirror = second.tree.path("mirror")
        #expect(try await second.run("mirror", share, mirror.string).code == 0)
        #expect(try second.tree.files(below: "mirror").filter { $0.hasSuffix(".jpg") }.count >= 2)
        let left = try home.store.files(below: "objects").filter { $0.string.contains("shares/\(share)") }
        #expect(left == [])
    }

    @Test func `two machines go to another store and back, each whenever it is on`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let second = try AgentHome(store: "{type: directory, path: \(home.store.root)}")
        try await second.takeTrip(photos: 2)
        _ = try await second.pass()
        let (old, new) = (home.store.root, home.tree.path("new"))
        for (round, place) in [new, old, new].enumerated() {
            for machine in [home, second] {
                let moved = try await answer(machine, "move-store", "--yes", place.string, "--json")
                #expect(moved["switched"] as? Bool == true, "\(round)")
                // What it tells of itself is newer there than what the other one brings along.
                let number = 40 + 2 * round + (machine === home ? 0 : 1)
                try machine.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number))
                _ = try await machine.pass()
            }
        }
        for machine in [home, second] { #expect(try await machine.run("verify", "--all").code == 0) }
    }

    @Test func `what was taken back after a move that was ended is not seen in the new store either`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let new = home.tree.path("new")
        let moved = home.tree.path("moved")
        let share = try #require(try await home.share().shareId)
        // Ended between the copies and the configuration, which is the old one again.
        let old = try configuration(home)
        let state = home.tree.path("state/sync-agent")
        try FileManager.default.copyItem(atPath: state.string, toPath: moved.string)
        _ = try await answer(home, "move-store", "--yes", new.string, "--json")
        #expect(try StoreFolder(root: new).files(below: "objects").contains { $0.string.contains("shares/\(share)") })
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: moved.string, toPath: state.string)
        try home.configure(old)
        #expect(try await home.run("shares", "--revoke", share, "--yes").code == 0)
        _ = try await home.pass()

        let again = try await answer(home, "move-store", "--yes", new.string, "--json")
        #expect(again["switched"] as? Bool == true && again["shares"] as? Int == 0)
        let left = try StoreFolder(root: new).files(below: "objects").filter { $0.string.contains("shares/\(share)/") }
        #expect(left == [])
        #expect(try await home.run("mirror", share, home.tree.path("mirror").string).code != 0)
    }

    @Test(arguments: [false, true])
    func `what was forgotten goes from a store that is used again, and nothing else`(isCopied: Bool) async throws {
        let home = try AgentHome()
        try await fill(home)
        let old = home.store.root
        let new = home.tree.path("new")
        if isCopied {
            try FileManager.default.copyItem(atPath: old.string, toPath: new.string)
        } else {
            #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        }
        for number in 0..<3 {
            try FileManager.default.removeItem(atPath: home.gallery.appending("\(number).jpg").string)
        }
        _ = try await home.pass()
        let gone = try await home.photos(at: home.gallery).filter { $0.state == "missing" }.compactMap(\.key)
        #expect(gone.count == 3)
        #expect(try await home.run("forget", "--missing", "--yes").code == 0)
        // One of them is taken again meanwhile.
        try home.gallery.appending("back.jpg").create(SamplePhoto.unique(2))
        _ = try await home.pass()

        let answer: Fields
        if isCopied {
            try replace("path: \(old)", by: "path: \(new)", in: home)
            answer = try await self.answer(home, "move-store", "--adopt", "--yes", "--json")
        } else {
            answer = try await self.answer(home, "move-store", "--yes", old.string, "--json")
        }
        #expect(answer["forgotten"] as? Int == 2)
        let place = isCopied ? new : old
        let objects = { try FileManager.default.subpathsOfDirectory(atPath: place.string).joined(separator: " ") }
        #expect(try gone.allSatisfy { try objects().contains($0) })
        _ = try await home.pass()
        let back = try #require(try await home.photo(home.gallery.appending("back.jpg"))?.key)
        let left = try objects()
        #expect(gone.filter { left.contains("objects/\($0)") } == [back])
        #expect(try await home.run("verify", "--all").code == 0)
    }

    @Test func `a share of a machine that has moved on is not called gone where nothing of it was`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let second = try AgentHome(store: "{type: directory, path: \(home.store.root)}")
        try second.gallery.appending("theirs.jpg").create(SamplePhoto.unique(31))
        _ = try await second.pass()
        let share = try #require(try await home.share().shareId)
        _ = try await home.pass()
        let new = home.tree.path("new")
        _ = try await answer(home, "move-store", "--yes", new.string, "--json")
        _ = try await home.pass()

        let revoked = try await second.run("shares", "--revoke", share, "--yes")
        #expect(revoked.code == 3 && revoked.text.contains("Nothing of it was in this store"))
        #expect(try await second.shares().first { $0.shareId == share }?.state == "revoked")
        // It follows, and takes along what it knows.
        _ = try await answer(second, "move-store", "--yes", new.string, "--json")
        _ = try await second.pass()
        _ = try await home.pass()
        #expect(try await home.shares().first { $0.shareId == share }?.state == "revoked")
        let left = try StoreFolder(root: new).files(below: "objects").filter { $0.string.contains("shares/\(share)/") }
        #expect(left == [])
    }

    @Test func `a store in a watched folder, or the one that there is, is refused at once`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let inside = home.gallery.appending("store")
        let watched = try await home.run("move-store", "--yes", inside.string)
        #expect(watched.code == 78 && watched.complaint.contains("is in the watched folder"))
        let above = try await home.run("move-store", "--yes", home.gallery.removingLastComponent().string)
        #expect(above.code == 78 && above.complaint.contains("holds the watched folder"))
        #expect(!FileManager.default.fileExists(atPath: inside.string))
        #expect(try await home.run("move-store", "--yes", home.store.root.string).code == 64)
        #expect(try await home.run("move-store").code == 64)
        let link = home.tree.path("same")
        try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: home.store.root.string)
        let same = try await home.run("move-store", "--yes", link.string)
        #expect(same.code == 64 && same.complaint.contains("under another name"))
        for name in ["sub", "objects/sub"] {
            let inner = home.store.root.pushing(FilePath(name))
            #expect(try await home.run("move-store", "--yes", inner.string).complaint.contains("is in the store"))
        }
        let store = home.store.root
        let outer = home.tree.path("outer")
        try FileManager.default.createDirectory(atPath: outer.string, withIntermediateDirectories: true)
        try store.move(to: outer.appending("store"))
        try FileManager.default.createSymbolicLink(
            atPath: store.string, withDestinationPath: outer.appending("store").string)
        let around = try await home.run("move-store", "--yes", outer.string)
        #expect(around.code == 64 && around.complaint.contains("holds the store"), "\(around.complaint)")
        let nowhere = home.tree.path("nowhere")
        try FileManager.default.createSymbolicLink(
            atPath: nowhere.string, withDestinationPath: home.tree.path("away").string)
        let gone = try await home.run("move-store", "--dry-run", nowhere.string)
        #expect(gone.code == 64 && gone.complaint.contains("is a link to what is not there"), "\(gone.complaint)")
        let state = try await home.run("move-store", "--yes", home.tree.path("state/sync-agent").string)
        #expect(state.code == 64 && state.complaint.contains("is in the state folder"))
        #expect(try await home.run("move-store", "--yes", "http://nas/photos").code == 64)
        #expect(try await home.run("move-store", "--adopt", "--endpoint", "http://x").code == 64)
    }
}
