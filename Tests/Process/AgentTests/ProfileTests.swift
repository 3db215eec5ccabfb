import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// `profiles`: from telephone numbers to UUIDs.
struct ProfileTests {
    private struct Profile: Decodable {
        var id: String
        var phone: String
        var name: String?
        var events: Int
    }

    private struct Profiles: Decodable {
        var profiles: [Profile]
        var orphanedEvents: Int
    }

    private struct Merge: Decodable {
        struct Profile: Decodable {
            var id: String
            var name: String?
        }

        struct Photos: Decodable {
            var moved: Int
            var left: [[String: String]]
        }

        var dryRun: Bool
        var from: Profile
        var into: Profile
        var events: Int
        var photos: Photos
    }

    private struct Migration: Decodable {
        struct Orphan: Decodable {
            var profile: String
            var phone: String
            var events: Int
        }

        struct Deletion: Decodable {
            var events: Int
        }

        var mapped: Int
        var alreadyMapped: Int
        var orphans: [Orphan]
        var deleted: Deletion?
    }

    private let home: AgentHome

    init() throws {
        home = try AgentHome(more: "share: {phone_region: CA}")
    }

    private func write(_ profiles: [String]) async throws {
        let events = profiles.enumerated().map { index, profile in
            """
            {"id":"e\(index)","profileId":"\(profile)","eventType":"taskResponse","createdAt":"2025-01-01T08:00:00Z",\
            "text":"PLANTED words \(index)"}
            """
        }
        try home.gallery.appending("events.json").create(Array("[\(events.joined(separator: ",\n"))]".utf8))
        _ = try await home.pass()
    }

    private func answer<Answer: Decodable>(
        _ type: Answer.Type = Answer.self, _ arguments: String..., code: Int32 = 0
    ) async throws -> Answer {
        let finished = try await home.start(["profiles"] + arguments + ["--json"]).finished()
        #expect(finished.code == code, "\(finished.complaint)")
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    @Test func `a number has one profile, however it is written`() async throws {
        let added = try await answer(Profile.self, "add", "(778) 814-3739", "--name", "Grandma")
        #expect(added.phone == "+17788143739")
        #expect(UUID(uuidString: added.id) != nil && added.id == added.id.lowercased())
        let again = try await home.run("profiles", "add", "+1 778 814 3739")
        #expect(again.code == 1)
        #expect(again.complaint.contains(added.id))
        let id = "0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D"
        let other = try await answer(Profile.self, "add", "01512 3456789", "--region", "DE", "--id", id)
        #expect((other.phone, other.id) == ("+4915123456789", id.lowercased()))
        #expect(try await home.run("profiles", "add", "778 814 3738", "--id", id).code == 1)
        #expect(try await home.run("profiles", "add", "12").code == 64)
        let listed = try await answer(Profiles.self, "list")
        #expect(listed.profiles.map(\.id) == [added.id, other.id])
        #expect(listed.profiles.map(\.name) == ["Grandma", nil])
    }

    @Test func `events are mapped, orphans are listed, and deleted when that is said`() async throws {
        try await write(["+17788143739", "778-814-3739", "grandma", "+49 1512 3456789"])
        let added = try await answer(Profile.self, "add", "7788143739")
        let before = try await answer(Profiles.self, "list")
        #expect((before.profiles.map(\.events), before.orphanedEvents) == ([2], 1))
        let dry = try await answer(Migration.self, "migrate", "--dry-run")
        #expect((dry.mapped, dry.alreadyMapped, dry.orphans.map(\.phone)) == (2, 0, ["+4915123456789"]))
        #expect(try await answer(Migration.self, "migrate").mapped == 2)
        #expect(try await answer(Migration.self, "migrate").alreadyMapped == 2)

        // Nobody is there to be asked.
        #expect(try await home.run("profiles", "migrate", "--delete-orphans").code == 64)
        #expect(try home.tree.read("home/Gallery/events.json").range(of: "PLANTED words 3") != nil)
        let deleted = try await answer(Migration.self, "migrate", "--delete-orphans", "--yes")
        #expect(deleted.deleted?.events == 1)
        let rest = try home.tree.read("home/Gallery/events.json")
        #expect(rest.range(of: "PLANTED words 3") == nil)
        #expect(rest.range(of: "PLANTED words 2") != nil)
        _ = try await home.pass()
        #expect(try await answer(Profiles.self, "list").orphanedEvents == 0)
        #expect(added.events == 0)
    }

    @Test func `photos get no other keys while a cleanup is at work, or all is moved to another store`() async throws {
        _ = try await home.pass()
        let held = try HeldAgentLock("cleanup.lock", of: home)
        #expect(try await home.run("profiles", "migrate", "--dry-run").code == 0)
        #expect(try await home.run("profiles", "migrate").code == 75)
        held.release()
        #expect(try await home.run("profiles", "migrate").code == 0)
    }

    private func archive(_ profiles: [String]) async throws {
        let events = try profiles.enumerated().map { index, profile in
            """
            {"id":"e\(index)","profileId":"\(profile)","eventType":"taskResponse","createdAt":"2025-01-01T08:00:00Z",\
            "photoData":"\(Data(try SamplePhoto.unique(index)).base64EncodedString())"}
            """
        }
        try home.gallery.appending("events.json").create(Array("[\(events.joined(separator: ",\n"))]".utf8))
        // An empty folder would be taken for a drive that is not mounted.
        try home.gallery.appending("plain.jpg").create(SamplePhoto.unique(7))
        _ = try await home.pass()
        let cleanup = try await home.run("cleanup")
        #expect(cleanup.code == 0, "\(cleanup.complaint)")
    }

    private func archived(_ arguments: String...) async throws -> [String] {
        struct Listing: Decodable {
            struct Photo: Decodable { var key: String }
            var photos: [Photo]
        }
        let listed = try await home.start(["archive", "list", "--json"] + arguments).finished()
        return try JSONDecoder().decode(Listing.self, from: Data(listed.output)).photos.map(\.key).sorted()
    }

    @Test func `what is one profile's becomes another one's, and a rebuild knows it and its name`() async throws {
        let added = try await answer(Profile.self, "add", "7788143739", "--name", "Grandma")
        try await archive(["u-17", "7788143739", "grandpa"])
        #expect(try await home.run("profiles", "rename", "Grandma", "Grandma Ruth").code == 0)
        #expect(try await home.run("profiles", "rename", "U-17", "Ruth").code == 0)
        // Nobody is there to be asked.
        #expect(try await home.run("profiles", "merge", "ruth", "7788143739").code == 64)
        let dry = try await answer(Merge.self, "merge", "ruth", "7788143739", "--dry-run")
        #expect((dry.dryRun, dry.from.id, dry.into.id, dry.events, dry.photos.moved) == (true, "u-17", added.id, 1, 1))
        #expect(try await archived("--profile", "u-17").count == 1)
        let merged = try await answer(Merge.self, "merge", "ruth", added.id.uppercased(), "--yes")
        #expect((merged.events, merged.photos.moved, merged.photos.left) == (1, 1, []))
        let keys = ["e0", "e1"].map { "gallery-archive/ana/\(added.id)/2025/01/\($0).jpg" }
        for name in ["u-17", "U-17", "grandma ruth", added.id, "+1 778 814 3739"] {
            #expect(try await archived("--profile", name) == keys)
        }
        let again = try await answer(Merge.self, "merge", "u-17", added.id, "--yes")
        #expect((again.photos.moved, again.photos.left) == (0, []))
        let told = try await home.run("profiles", "merge", "u-17", added.id, "--yes")
        #expect(told.text.contains("u-17 is Grandma Ruth already: "), "\(told.text)")
        #expect(try await home.run("profiles", "merge", "u-17", "grandpa", "--yes").code == 1)
        #expect(try await home.run("profiles", "merge", added.id, "7788143739", "--yes").code == 64)
        // What still comes under the old id is archived under the new one.
        try home.gallery.appending("late.json").create(
            Array(
                """
                {"id":"late","profileId":"u-17","eventType":"taskResponse","createdAt":"2025-02-01T08:00:00Z",\
                "photoData":"\(Data(try SamplePhoto.unique(9)).base64EncodedString())"}
                """.utf8))
        _ = try await home.pass()
        #expect(try await home.run("cleanup").code == 0)
        let late = "gallery-archive/ana/\(added.id)/2025/02/late.jpg"
        #expect(try await archived("--profile", added.id, "--from", "2025-02-01") == [late])
        let list = try await home.run("profiles", "list")
        #expect(list.text.contains("Grandma Ruth") && list.text.contains("was u-17"))

        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        #expect(try await home.run("rebuild").code == 0)
        #expect(try await archived("--profile", "u-17") == keys + [late])
        #expect(try await home.run("profiles", "list").text.contains("\(added.id) (Grandma Ruth)  needs its number"))
        _ = try await home.run("profiles", "add", "--id", added.id, "7788143739")
        #expect(try await answer(Profiles.self, "list").profiles.map(\.name) == ["Grandma Ruth"])
        // No number has left this machine.
        let objects = try home.tree.files(below: "store").filter { !$0.contains("staging") }
        for file in objects {
            let bytes = try home.tree.read("store/\(file)")
            #expect(bytes.range(of: "7788143739") == nil && bytes.range(of: "778 814") == nil, "\(file)")
        }
    }

    @Test func `a profile with anything in it is not removed, and an empty one is`() async throws {
        let (full, empty) = (
            try await answer(Profile.self, "add", "7788143739", "--name", "Full"),
            try await answer(Profile.self, "add", "7788143738", "--name", "Empty")
        )
        try await archive(["7788143739"])
        let refused = try await home.run("profiles", "remove", "Full", "--yes")
        #expect(refused.code == 1)
        #expect(
            refused.complaint.contains("1 archived photo") && refused.complaint.contains("profiles merge \(full.id)"))
        // The folder of the gallery is its.
        #expect(try await home.run("profiles", "remove", "grandma", "--yes").code == 1)
        #expect(try await home.run("profiles", "remove", "empty").code == 64)
        #expect(try await home.run("profiles", "remove", "empty", "--dry-run").code == 0)
        #expect(try await home.run("profiles", "remove", "empty", "--yes").code == 0)
        #expect(try await answer(Profiles.self, "list").profiles.map(\.id) == [full.id])
        #expect(try await home.run("profiles", "remove", empty.id, "--yes").code == 66)
        #expect(try await home.run("profiles", "rename", "7788143738", "Nobody").code == 66)
        #expect(try await archived().count == 1)
    }
}

extension ProfileTests {
    @Test func `a merge that leads the other way round than another machine's is refused with the way out`()
        async throws
    {
        try await archive(["grandma", "ruth"])
        #expect(try await home.run("profiles", "merge", "grandma", "ruth", "--yes").code == 0)
        // The same store, another machine.
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        _ = try await home.pass()
        let refused = try await home.run("profiles", "merge", "ruth", "grandma", "--yes")
        #expect(
            refused.code == 1 && refused.complaint.contains("merge grandma into ruth here, too"), "\(refused.complaint)"
        )
        #expect(try await home.run("profiles", "merge", "ruth", "grandma", "--dry-run").code == 1)
        #expect(try await archived("--profile", "ruth").count == 2)
    }

    @Test func `what the store denied has not had its turn by a dry run`() async throws {
        try await archive(["grandma", "ruth"])
        let denial = "INSERT INTO denied_objects VALUES ('profiles', 'gallery-archive/ana/grandma/2025/01/e0.jpg', 0)"
        try await home.changeLedger(denial)
        #expect(try await home.run("profiles", "migrate", "--dry-run").code == 0)
        #expect(try await home.run("profiles", "merge", "grandma", "ruth", "--dry-run").code == 0)
        // It is there, and cannot be there twice.
        await #expect(throws: UnexpectedEnd.self) { try await home.changeLedger(denial) }
        #expect(try await home.run("profiles", "merge", "grandma", "ruth", "--yes").code == 0)
        try await home.changeLedger(denial)
    }

    @Test func `what another machine has merged is found there, and the same merge here ends it`() async throws {
        try await archive(["grandma", "ruth"])
        let (state, away) = (home.tree.path("state"), home.tree.path("state-of-another"))
        try FileManager.default.moveItem(atPath: state.string, toPath: away.string)
        _ = try await home.pass()
        #expect(try await home.run("profiles", "merge", "grandma", "ruth", "--yes").code == 0)
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: away.string, toPath: state.string)
        let verified = try await home.run("verify", "--all")
        #expect(verified.code == 0, "\(verified.text) \(verified.complaint)")
        let merged = try await answer(Merge.self, "merge", "grandma", "ruth", "--yes")
        #expect((merged.events, merged.photos.moved, merged.photos.left) == (1, 0, []))
        #expect(try await home.run("profiles", "list").text.contains("was grandma"))
    }
}

extension [UInt8] {
    fileprivate func range(of text: String) -> Range<Data.Index>? { Data(self).range(of: Data(text.utf8)) }
}
