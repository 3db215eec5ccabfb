import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// A power failure takes what is not on the disk. What only the ledger can find again has to be there first: the calls of
/// the program tell in which order it asks.
@Suite(.enabled(if: !Tool.strace.isMissing, "needs strace"))
struct DurableLedgerTests {
    private static func appears(below part: String) -> (Trace.Call) -> Bool {
        { ["rename", "renameat2", "link"].contains($0.name) && $0.arguments.contains(part) }
    }

    @Test func `a share is on the disk before the first of its objects is`() async throws {
        let home = try AgentHome(in: .disk)
        try await home.takeTrip(photos: 2)
        let trace = try await Trace(home, ["share", "--yes", AgentHome.trip])
        #expect(trace.isLedgerDurable(before: Self.appears(below: "/shares/")) == true)
    }

    @Test func `that a share ends is on the disk before the first of its objects goes`() async throws {
        let home = try AgentHome(in: .disk)
        try await home.takeTrip(photos: 2)
        let id = try #require(try await home.share().shareId)
        let trace = try await Trace(home, ["shares", "--revoke", id])
        #expect(trace.isLedgerDurable { $0.name.hasPrefix("unlink") && $0.arguments.contains("/shares/") } == true)
    }

    @Test func `a restore is on the disk before the first object is asked for`() async throws {
        let home = try AgentHome(more: AgentHome.archivesAtOnce, in: .disk)
        try await home.takeTrip(photos: 2)
        let trace = try await Trace(home, ["restore", AgentHome.trip, "--yes", "--json"])
        #expect(trace.isLedgerDurable(before: Self.appears(below: "/records/")) == true)
    }

    @Test func `what is no longer to be saved is on the disk before the job's file goes`() async throws {
        let home = try AgentHome(restoring: 3_600, more: AgentHome.archivesAtOnce, in: .disk)
        try await home.takeTrip(photos: 2)
        let output = home.tree.path("back").string
        #expect(try await home.run("restore", AgentHome.trip, "--yes", "--output", output).code == 0)
        let trace = try await Trace(home, ["restores", "1", "--stop-saving"])
        let isDurable = trace.isLedgerDurable {
            $0.name.hasPrefix("unlink") && $0.arguments.contains(".sync-agent-restore-")
        }
        #expect(isDurable == true)
    }

    @Test func `what was saved last is on the disk before the job's file goes`() async throws {
        let home = try AgentHome(in: .disk)
        try await home.takeTrip(photos: 2)
        let output = home.tree.path("back").string
        let trace = try await Trace(home, ["restore", AgentHome.trip, "--yes", "--output", output])
        let isDurable = trace.isLedgerDurable(wholly: true) {
            $0.name.hasPrefix("unlink") && $0.arguments.contains(".sync-agent-restore-")
                && !$0.arguments.contains("sync-agent-part")
        }
        #expect(isDurable == true)
        #expect(try home.tree.photos(below: "back").count == 2)
    }

    @Test func `what is to be deleted is on the disk before the first image goes`() async throws {
        let home = try AgentHome(in: .disk)
        try home.projects.appending("p1.jpg").create(SamplePhoto.taken(1))
        let created = Int(Date().timeIntervalSince1970) - 3_600
        try home.projects.appending("projects.json").create(
            Array(
                #"[{"id": "p1", "templateId": "t", "templateName": "T", "createdAt": \#(created), "status": "Completed"}]"#
                    .utf8))
        _ = try await home.pass()
        let trace = try await Trace(home, ["projects", "delete", "p1", "--yes"])
        let isDurable = trace.isLedgerDurable {
            $0.name.hasPrefix("unlink") && $0.arguments.contains("p1.jpg")
                || Self.appears(below: "projects.json")($0)
        }
        #expect(isDurable == true)
    }
}
