import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// `profiles`: from telephone numbers to UUIDs.
@Suite(.serialized) struct ProfileTests {
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
}

extension [UInt8] {
    fileprivate func range(of text: String) -> Range<Data.Index>? { Data(self).range(of: Data(text.utf8)) }
}
