import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// The JSON that programs read: its fields are a contract (docs/commands.md).
struct AnswerShapeTests {
    private typealias Fields = [String: Any]
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    private func answer(_ arguments: String...) async throws -> Fields {
        let finished = try await home.start(arguments).finished()
        return try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields)
    }

    private func fillFolders() async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        try home.gallery.appending("broken.jpg").create(SamplePhoto.truncated(2))
        #expect(try await home.run("sync").code == 3)
    }

    @Test(arguments: [true, false])
    func `status has every field, with and without an agent, filled or empty`(isFilled: Bool) async throws {
        if isFilled { try await fillFolders() }
        let agent = isFilled ? try await home.startAgent() : nil
        let answer = try await answer("status", "--json")
        expect(
            answer, has: "agent", "store", "disks", "folders", "totals", "tiers", "restores", "vacations", "delayed",
            "verification", "catalog", "originals", "guests", "shares", "retention", "elsewhere", "oldestUnsynced",
            "lastSyncAt", "notes")
        expect(answer["shares"], has: "notRemoved", "problem")
        expect(answer["catalog"], has: "enabled", "machineId", "machine", "writtenAt", "waiting", "problem")
        expect(answer["retention"], has: "events", "kept", "overdue", "lastRunAt", "nextRunAt")
        expect(answer["agent"], has: "running", "pid", "since")
        expect(
            answer["store"], has: "type", "location", "reachable", "error", "refusal", "since", "note", "comparedAt",
            "unclearObjects")
        for disk in try #require(answer["disks"] as? [Fields]) { expect(disk, has: "place", "freeBytes", "isFull") }
        for folder in try #require(answer["folders"] as? [Fields]) {
            expect(
                folder, has: "path", "kind", "profile", "watching", "files", "uploaded", "pending", "failed", "skipped",
                "lost", "scannedAt", "note", "problem")
        }
        expect(
            answer["totals"], has: "files", "uploaded", "pending", "failed", "skipped", "missing", "lost", "leftOut",
            "filtered", "bytesLocal", "bytesStored")
        expect(answer["verification"], has: "oldest", "checked", "damaged", "missing", "unread")
        expect(answer["restores"], has: "inProgress", "ready", "failed")
        #expect(answer["vacations"] as? [Fields] != nil)
        let tiers = try #require(answer["tiers"] as? [Fields])
        #expect(tiers.count == (isFilled ? 1 : 0))
        for tier in tiers { expect(tier, has: "storageClass", "objects", "bytes", "due", "tooSmall") }
        if isFilled {
            expect(answer["oldestUnsynced"], has: "path", "since", "why")
        } else {
            #expect(answer["oldestUnsynced"] is NSNull && answer["lastSyncAt"] is NSNull)
        }
        // Each folder was looked at, once there was a pass.
        let folders = (answer["folders"] as? [Fields])?.count ?? 0
        // An agent may have had its first daily cleanup already.
        #expect(times(in: answer.filter { $0.key != "retention" }).count == (isFilled ? 6 + folders : 0))
        expectTimes(in: answer)
        agent?.send(SIGTERM)
    }

    @Test func `status of a path has every field of every photo`() async throws {
        try await fillFolders()
        let answer = try await answer("status", home.gallery.string, "--json")
        let files = try #require(answer["files"] as? [Fields])
        #expect(files.count == 2)
        for file in files {
            expect(
                file, has: "path", "state", "key", "md5", "sha256", "storageClass", "expectedClass", "staysBecause",
                "badge", "restoredUntil", "uploadedAt", "bytesLocal", "bytesStored", "width", "height",
                "durationSeconds", "takenAt", "error", "note", "elsewhere", "dropped", "original", "versions", "partOf",
                "parts")
        }
        // When it was stored.
        #expect(times(in: answer).count == 1)
        expectTimes(in: answer)
        // When it was taken, by the camera's clock.
        let taken = files.compactMap { $0["takenAt"] as? String }
        #expect(taken.count == 1)
        #expect(
            taken.allSatisfy { $0.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d)?/) != nil }, "\(taken)")
    }

    @Test(
        arguments: [
            ["sync", "--json"], ["sync", "--dry-run", "--json"], ["config", "reference", "--json"],
            ["status", "--refresh", "--json"], ["cost", "--json"], ["lifecycle", "show", "--json"],
            ["lifecycle", "apply", "--json"], ["verify", "--json"], ["restore", "--suggest", "--json"],
        ])
    func `a command that reports prints one object on standard output, and nothing else`(arguments: [String])
        async throws
    {
        try home.gallery.appending("broken.jpg").create(SamplePhoto.truncated(2))
        let finished = try await home.start(arguments).finished()
        #expect(try JSONSerialization.jsonObject(with: Data(finished.output)) is Fields)
    }

    @Test func `the overview fits into 80 columns, and has no colours where no terminal is`() async throws {
        try await fillFolders()
        let long = home.vacations.pushing(FilePath(String(repeating: "a very long folder/", count: 12)))
        try long.appending("broken.jpg").create(SamplePhoto.truncated(3))
        _ = try await home.run("sync")
        let finished = try await home.run("status")
        #expect(finished.code == 0 && finished.text.contains("Not safe yet"))
        for line in finished.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(!finished.output.contains(0x1B))
    }

    @Test func `status --watch tells again and again, until a signal`() async throws {
        let watch = try home.start(["status", "--watch"])
        try await watch.progress.wait(for: "a second overview") { progress in
            String(decoding: progress.output, as: UTF8.self).ranges(of: "Agent ").count >= 2 ? () : nil
        }
        watch.send(SIGINT)
        let finished = try await watch.finished()
        // As a shell tells it, that is 130.
        #expect(finished.complaint == "" && finished.ending == .signal(SIGINT))
    }

    // MARK: Checks

    private func expect(
        _ object: Any?, has fields: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let missing = Set(fields).subtracting((object as? Fields)?.keys.map { $0 } ?? [])
        #expect(missing.isEmpty, sourceLocation: sourceLocation)
    }

    /// The values of all fields that are named like times, however deep.
    private func times(in value: Any) -> [String] {
        if let list = value as? [Any] { return list.flatMap(times) }
        guard let object = value as? Fields else { return [] }
        return object.flatMap { name, value -> [String] in
            if name == "takenAt" { return [] }
            let isTime = name == "since" || name == "oldest" || name.hasSuffix("At") || name.hasSuffix("Until")
            return isTime ? [value as? String].compactMap(\.self) : times(in: value)
        }
    }

    /// ISO 8601, in UTC. The program runs in another time zone here.
    private func expectTimes(in answer: Fields) {
        for time in times(in: answer) {
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil, "\(time)")
        }
    }
}
