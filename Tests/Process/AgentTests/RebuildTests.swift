import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// The disk is gone, and the store alone brings everything back.
struct RebuildTests {
    private typealias Fields = [String: Any]

    private func answer(_ home: AgentHome, _ arguments: String..., code: Int32 = 0) async throws -> Fields {
        let finished = try await home.start(arguments).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields)
    }

    /// Photos in nested folders, one of them twice, and a trip.
    private func fill(_ home: AgentHome) throws {
        for number in 0..<6 {
            try home.gallery.appending("2019/rome/\(number).jpg").create(SamplePhoto.unique(number))
        }
        try home.gallery.appending("copy of 1.jpg").create(SamplePhoto.unique(1))
        for number in 0..<3 { try home.photo(number).create(SamplePhoto.taken(number)) }
    }

    /// What is known of all photos: their paths with the SHA-256 of what is stored.
    private func stored(_ home: AgentHome) async throws -> [String: [String?]] {
        let photos = try await home.photos(at: home.gallery) + home.photos(at: home.vacations)
        return Dictionary(uniqueKeysWithValues: photos.map { ($0.path, [$0.key, $0.storageClass, $0.md5]) })
    }

    /// Deletes all that this machine has but its configuration.
    private func loseDisk(_ home: AgentHome) throws {
        for folder in [home.tree.path("state"), home.gallery, home.vacations] {
            try FileManager.default.removeItem(atPath: folder.string)
        }
        _ = try home.tree.makeFolder("home/Gallery")
        _ = try home.tree.makeFolder("home/Vacations")
    }

    @Test(
        arguments: ArchivePlace.required)
    func `every path is known again, every photo comes back byte for byte, and nothing is sent`(
        place: ArchivePlace
    ) async throws {
        let (home, bytes) = try await place.makeHome()
        try fill(home)
        #expect(try await home.pass().uploaded == 9)
        let before = try await stored(home)
        try #require(before.count == 10)
        try loseDisk(home)

        let rebuilt = try await answer(home, "rebuild", "--json")
        #expect(rebuilt["photos"] as? Int == 10 && rebuilt["fromCatalog"] as? Int == 10)
        #expect(rebuilt["recovered"] as? Int == 0 && rebuilt["vacations"] as? Int == 1)
        #expect((rebuilt["machines"] as? [Fields])?.count == 1)
        let after = try await home.photos(at: home.gallery) + home.photos(at: home.vacations)
        #expect(after.allSatisfy { $0.state == "missing" })
        #expect(try await stored(home) == before)

        let output = home.tree.path("back")
        let restored = try await home.run("restore", "--all", "--wait", "--yes", "--output", output.string)
        #expect(restored.code == 0, "\(restored.complaint)")
        for (path, facts) in before {
            let place = path.replacing(home.tree.path("home").string + "/", with: "")
            let saved = try output.pushing(FilePath(place)).bytes
            let key = try #require(facts[0])
            #expect(!saved.isEmpty)
            if let object = bytes.known(key) { #expect("\(ContentDigest(of: saved).sha256)" == object.sha256) }
        }
        let names = try FileManager.default.subpathsOfDirectory(atPath: output.string).filter { $0.hasSuffix(".jpg") }
        #expect(Set(names) == Set(before.keys.map { $0.replacing(home.tree.path("home").string + "/", with: "") }))
        let pass = try await home.pass()
        #expect(pass.uploaded == 0)
    }

    @Test func `a share is listed and revoked from the new machine`() async throws {
        let home = try AgentHome(in: .disk)
        try await home.takeTrip(photos: 3)
        let share = try await home.share("--from", "Ana", AgentHome.trip)
        let id = try #require(share.shareId)
        // No pass comes between.
        try loseDisk(home)
        #expect(try await answer(home, "rebuild", "--json")["shares"] as? Int == 1)
        #expect(try await home.shares().map(\.shareId) == [id])
        #expect(try await home.run("shares", "--revoke", id, "--yes").code == 0)
        #expect(try home.store.objects().filter { $0.key.hasPrefix("shares/") }.isEmpty)
        try loseDisk(home)
        #expect(try await answer(home, "rebuild", "--json")["shares"] as? Int == 0)
    }

    @Test func `of an old ledger that was put back without the pictures, the catalogue has the last word`() async throws
    {
        let home = try AgentHome(in: .disk)
        let (state, old) = (home.tree.path("state"), home.tree.path("old state"))
        try fill(home)
        _ = try await home.pass()
        try FileManager.default.copyItem(atPath: state.string, toPath: old.string)
        try home.gallery.appending("2019/rome/0.jpg").create(SamplePhoto.unique(70))
        try FileManager.default.removeItem(atPath: home.gallery.appending("2019/rome/1.jpg").string)
        try home.gallery.appending("2020/new.jpg").create(SamplePhoto.unique(71))
        _ = try await home.pass()
        let before = try await stored(home)
        try loseDisk(home)
        try FileManager.default.moveItem(atPath: old.string, toPath: state.string)
        _ = try await answer(home, "rebuild", "--json")
        let after = try await stored(home)
        #expect(before.allSatisfy { after[$0.key] == $0.value }, "\(after)")
    }

    @Test func `of an empty folder a rebuild calls the photos missing, and none is forgotten by that`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let before = try home.store.objects().map(\.key)
        try FileManager.default.removeItem(atPath: home.gallery.string)
        _ = try home.tree.makeFolder("home/Gallery")
        _ = try await answer(home, "rebuild", "--json")
        let told = try await home.run("forget", "--missing", "--yes")
        let words = told.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(told.code == 3 && words.contains("put a file, such as a note, into it"), "\(words)")
        #expect(try await home.run("forget", home.gallery.string, "--yes").code == 3)
        #expect(try Set(home.store.objects().map(\.key)).isSuperset(of: before))
        // They were deleted on purpose.
        try home.gallery.appending("note.txt").create(Array("gone".utf8))
        #expect(try await home.run("forget", "--missing", "--yes").code == 0)
        #expect(try home.store.objects().count < before.count)
    }

    @Test func `of two shares of one vacation a rebuild keeps both, and both can be revoked`() async throws {
        let home = try AgentHome(in: .disk)
        let (state, old) = (home.tree.path("state"), home.tree.path("old state"))
        try await home.takeTrip(photos: 2)
        try FileManager.default.copyItem(atPath: state.string, toPath: old.string)
        let first = try #require(try await home.share().shareId)
        _ = try await home.pass()
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: old.string, toPath: state.string)
        let second = try #require(try await home.share().shareId)
        #expect(first != second)
        #expect(try await answer(home, "rebuild", "--json")["shares"] as? Int == 2)
        _ = try await home.pass()
        let live = try await home.shares().filter { $0.state == "live" }.map(\.shareId)
        #expect(Set(live) == [first, second] && live.count == 2)
        #expect(try await home.share().shareId == second)
        for id in [second, first] { #expect(try await home.run("shares", "--revoke", id, "--yes").code == 0) }
        #expect(try home.store.objects().filter { $0.key.hasPrefix("shares/") }.isEmpty)
    }

    @Test func `a pass with an older ledger leaves its newer catalogue as it is, and tells to rebuild`() async throws {
        let home = try AgentHome(in: .disk)
        let (state, old) = (home.tree.path("state"), home.tree.path("old state"))
        try await home.takeTrip(photos: 3)
        try FileManager.default.copyItem(atPath: state.string, toPath: old.string)
        let share = try await home.share("--from", "Ana", AgentHome.trip)
        let id = try #require(share.shareId)
        _ = try await home.pass()
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: old.string, toPath: state.string)
        for number in 0..<3 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(80 + number)) }
        let pass = try await answer(home, "sync", "--json", code: 3)
        #expect(pass["uploaded"] as? Int == 3)
        let problems = try #require(pass["problems"] as? [Fields])
        let message = try #require(problems.first?["message"] as? String)
        #expect(problems.count == 1 && message.contains("run sync-agent rebuild"))
        let status = try #require(try await answer(home, "status", "--json")["catalog"] as? Fields)
        #expect(status["problem"] as? String == message)
        #expect(try await !home.run("status").text.contains("Everything is safe"))
        #expect(try await home.run("status", "--check").code == 1)
        #expect(try await answer(home, "rebuild", "--json")["shares"] as? Int == 1)
        #expect(try await home.shares().map(\.shareId) == [id])
        _ = try await home.pass()
        // The catalogue that is written from now on has it.
        try loseDisk(home)
        #expect(try await answer(home, "rebuild", "--json")["shares"] as? Int == 1)
    }

    @Test func `of later writes that are gone, too, the machine's own note tells an older ledger`() async throws {
        let home = try AgentHome(in: .disk)
        let (state, old) = (home.tree.path("state"), home.tree.path("old state"))
        try fill(home)
        _ = try await home.pass()
        try FileManager.default.copyItem(atPath: state.string, toPath: old.string)
        try home.gallery.appending("new.jpg").create(SamplePhoto.unique(70))
        _ = try await home.pass()
        try home.store.loseCatalog()
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: old.string, toPath: state.string)
        for _ in 0..<2 {
            let pass = try await answer(home, "sync", "--json", code: 3)
            let problems = try #require(pass["problems"] as? [Fields])
            #expect(problems.count == 1)
            #expect((problems.first?["message"] as? String)?.contains("run sync-agent rebuild") == true)
            #expect(try home.store.segments().isEmpty)
        }
        let lacks = try #require(try await answer(home, "rebuild", "--json", code: 3)["problems"] as? [String])
        #expect(lacks.count == 1 && lacks[0].hasPrefix("the catalogue of this machine is missing"), "\(lacks)")
        _ = try await answer(home, "sync", "--json")
        #expect(try home.store.segments().count == 1)
        #expect(try await answer(home, "rebuild", "--json")["problems"] as? [String] == [])
    }

    @Test func `photos that are on the disk too are neither read nor sent`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        #expect(try await answer(home, "rebuild", "--json")["photos"] as? Int == 10)
        let pass = try await answer(home, "sync", "--json")
        #expect(pass["uploaded"] as? Int == 0 && pass["alreadyStored"] as? Int == 0 && pass["bytesRead"] as? Int == 0)
        let states = try await home.photos(at: home.gallery).map(\.state)
        #expect(states.count == 7 && Set(states) == ["uploaded"])
    }

    @Test func `a watched folder that had no photos is there again, and the pass after it is whole`() async throws {
        let home = try AgentHome(in: .disk)
        for number in 0..<2 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        _ = try await home.pass()
        for folder in [home.tree.path("state"), home.gallery, home.vacations] {
            try FileManager.default.removeItem(atPath: folder.string)
        }
        _ = try await answer(home, "rebuild", "--json")
        #expect(!FileManager.default.fileExists(atPath: home.gallery.string), "its drive may be away")
        let output = home.gallery.removingLastComponent().string
        #expect(try await home.run("restore", "--all", "--yes", "--output", output).code == 0)
        #expect(try await home.run("sync").code == 0)
    }

    @Test func `a pass after a rebuild, with no photo on the disk yet, leaves the manifests of trips`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let manifests = { try home.store.objects().map(\.key).filter { $0.contains("/vacations/") } }
        let before = try manifests()
        try #require(before.count == 1)
        try loseDisk(home)
        _ = try await answer(home, "rebuild", "--json")
        for _ in 0..<2 { _ = try await home.pass() }
        #expect(try manifests() == before)
        // Back again, it is the same trip.
        let output = home.gallery.removingLastComponent().string
        #expect(try await home.run("restore", "--all", "--yes", "--output", output).code == 0)
        _ = try await home.pass()
        #expect(try manifests().count == 1)
    }

    @Test func `what a killed rebuild has left in the state folder goes with the next pass`() async throws {
        let home = try AgentHome(in: .disk)
        _ = try await home.pass()
        let state = home.tree.path("state/sync-agent")
        // A process that is over; and one that lives, which is this one.
        let ended = try home.start(["--version"])
        _ = try await ended.finished()
        let (left, used) = (
            state.appending("rebuild-\(ended.pid).part"), state.appending("rebuild-\(getpid()).part")
        )
        for path in [left, used] { try path.create(Array("part".utf8)) }
        _ = try await home.pass()
        #expect(!FileManager.default.fileExists(atPath: left.string))
        #expect(FileManager.default.fileExists(atPath: used.string))
    }

    @Test func `a profile is known by its id again, and asks for its number`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        let added = try await answer(home, "profiles", "add", "+1 778 814 3739", "--name", "Grandma", "--json")
        let id = try #require(added["id"] as? String)
        _ = try await home.pass()
        try loseDisk(home)
        _ = try await answer(home, "rebuild", "--json")
        let listed = try await answer(home, "profiles", "list", "--json")
        #expect(listed["withoutNumber"] as? [String] == [id] && (listed["profiles"] as? [Fields])?.isEmpty == true)
        #expect(try await home.run("profiles", "list").text.contains("profiles add --id \(id)"))
        // Its own catalogue goes on to tell it, whoever rebuilds next.
        _ = try await home.pass()
        try loseDisk(home)
        _ = try await answer(home, "rebuild", "--json")
        #expect(try await answer(home, "profiles", "list", "--json")["withoutNumber"] as? [String] == [id])
        let again = try await answer(home, "profiles", "add", "--id", id, "+1 778 814 3739", "--json")
        #expect(again["id"] as? String == id)
        #expect(try await answer(home, "profiles", "list", "--json")["withoutNumber"] as? [String] == [])
    }

    @Test func `machines of a user see each other, and when each had its last whole pass`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let first = try #require(try await answer(home, "status", "--machines", "--json")["machines"] as? [Fields])
        #expect(first.count == 1 && first[0]["isThis"] as? Bool == true && first[0]["lastSyncAt"] is String)
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        // Without a rebuild it is another machine.
        _ = try await home.pass()
        let both = try #require(try await answer(home, "status", "--machines", "--json")["machines"] as? [Fields])
        #expect(both.count == 2 && both.count { $0["isThis"] as? Bool == true } == 1)
        for machine in both {
            #expect(machine["name"] is String && machine["version"] is String && machine["lastSyncAt"] is String)
            #expect(machine["pending"] as? Int == 0 && machine["failed"] as? Int == 0)
        }
        let words = try await home.run("status", "--machines")
        #expect(words.code == 0 && words.text.contains("this machine"), "\(words)")
        #expect(try await home.run("status", "--machines", "--watch").code == 64)
    }

    @Test func `a first pass over a store with photos tells of rebuild`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        let finished = try await home.run("sync")
        #expect(finished.code == 0 && finished.complaint.contains("sync-agent rebuild"))
    }

    @Test func `status, a restore of what nobody knows, and the agent tell of rebuild, too, and of nothing afterwards`()
        async throws
    {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let photo = home.gallery.appending("gone.jpg").string
        let known = try await home.run("status")
        #expect(!known.complaint.contains("sync-agent rebuild"), "\(known)")
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        let status = try await home.run("status", "--json")
        #expect(status.code == 0 && status.complaint.contains("sync-agent rebuild"), "\(status)")
        let restored = try await home.run("restore", "--yes", photo)
        #expect(restored.code == 66 && restored.complaint.contains("sync-agent rebuild"), "\(restored)")
        let agent = try home.start(["run"])
        try await agent.logged { $0.contains("sync-agent rebuild") }
        agent.send(SIGTERM)
        _ = try await agent.finished()
    }

    @Test func `a damaged ledger names rebuild, and is set aside by it and kept`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let ledger = home.tree.path("state/sync-agent/ledger.sqlite")
        try Data(repeating: 0x55, count: 100_000).write(to: URL(filePath: ledger.string))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: ledger.string + suffix) }
        let refused = try await home.run("status")
        #expect(refused.code == 1 && refused.complaint.contains("sync-agent rebuild"), "\(refused.complaint)")
        let rebuilt = try await answer(home, "rebuild", "--json")
        #expect(rebuilt["photos"] as? Int == 10)
        let aside = try #require(rebuilt["setAside"] as? String)
        #expect(try Data(contentsOf: URL(filePath: aside)) == Data(repeating: 0x55, count: 100_000))
    }

    @Test func `without a catalogue no path is in the store, and status says what that means`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        #expect(try home.store.segments().count == 1)
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root), catalog: off}
            watch:
              - {kind: gallery, path: \(home.gallery)}
              - {kind: vacations, path: \(home.vacations)}
            upload: {settle_seconds: 0.2}
            """)
        _ = try await home.pass()
        #expect(try home.store.segments().isEmpty)
        let status = try await home.run("status")
        #expect(status.text.contains("store.catalog: off"))
        try loseDisk(home)
        let rebuilt = try await answer(home, "rebuild", "--json")
        #expect(rebuilt["recovered"] as? Int == 9 && rebuilt["fromCatalog"] as? Int == 0)
        #expect(try await home.run("status", "recovered").text.contains("2024-06-15_"))
    }

    @Test func `photos of some days, and of another machine, come back by themselves`() async throws {
        let home = try AgentHome(in: .disk)
        try fill(home)
        _ = try await home.pass()
        let output = home.tree.path("june")
        let finished = try await home.run(
            "restore", "--from", "2024-06-15", "--to", "2024-06-15", "--yes", "--output", output.string)
        #expect(finished.code == 0, "\(finished.complaint)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: output.string).filter { $0.hasSuffix(".jpg") }
        #expect(names.sorted() == (0..<3).map { "Vacations/\(AgentHome.trip)/\($0).jpg" })
        let nothing = try await home.run(
            "restore", "--from", "1999-01-01", "--to", "1999-01-02", "--output", output.string)
        #expect(nothing.code == 66)
        let nobody = try await home.run("restore", "--machine", "nobody", "--output", output.string)
        #expect(nobody.code == 66 && nobody.complaint.contains("nobody"))
        #expect(try await home.run("restore", "--all", "--yes").code == 0, "nothing has to be asked for")
        // Also where nothing is known here of what a machine before this one has stored.
        try loseDisk(home)
        let back = home.tree.path("back")
        let found = try await home.run(
            "restore", "--from", "2024-06-15", "--to", "2024-06-15", "--yes", "--output", back.string)
        #expect(found.code == 0, "\(found.complaint)")
        let places = try FileManager.default.subpathsOfDirectory(atPath: back.string).filter { $0.hasSuffix(".jpg") }
        #expect(places.count == 3 && places.allSatisfy { $0.hasPrefix("machines/") }, "\(places)")
    }
}
