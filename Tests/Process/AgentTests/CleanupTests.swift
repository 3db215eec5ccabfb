import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// `cleanup`: photos of old events into the archive, texts away, whatever happens in between.
struct CleanupTests {
    /// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
    private static let rounds = ProcessInfo.processInfo.environment["SYNC_AGENT_KILL_ROUNDS"].flatMap { Int($0) } ?? 20
    private static let seed =
        ProcessInfo.processInfo.environment["SYNC_AGENT_KILL_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...1_000_000)

    /// `cleanup --json`
    private struct Answer: Decodable {
        struct Issue: Decodable {
            var event: String
            var file: String?
            var reason: String
        }

        var archived: Int
        var deleted: Int
        var skipped: Int
        var errors: [Issue]
    }

    private struct Overdue: Decodable {
        struct Event: Decodable {
            var event: String
            var reason: String?
        }

        var overdue: Int
        var events: [Event]
        var archived: Int
        var deleted: Int
    }

    private static func event(_ id: String, age days: Double, photo: Int? = nil, profile: String = "p1") throws
        -> String
    {
        let created = Int(Date().timeIntervalSince1970 - days * 86_400)
        let data = try photo.map { #","photoData":"\#(Data(try SamplePhoto.unique($0)).base64EncodedString())""# } ?? ""
        return """
            {"id":"\(id)","userId":"u1","profileId":"\(profile)","eventType":"taskResponse","createdAt":\(created),
             "taskTitle":"PLANTED title \(id)","text":"PLANTED words \(id)"\(data)}
            """
    }

    private static func write(_ events: [String], _ name: String, in home: AgentHome) throws {
        try home.gallery.appending(name).create(Array("[\(events.joined(separator: ",\n"))]\n".utf8))
    }

    private func answer<Value: Decodable>(_ finished: Finished, code: Int32 = 0) throws -> Value {
        #expect(finished.code == code, "\(finished.complaint)")
        return try JSONDecoder().decode(Value.self, from: Data(finished.output))
    }

    /// The files below a folder that hold any planted byte.
    private func planted(below folder: FilePath, _ word: String = "PLANTED") throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.string).filter { name in
            FileManager.default.contents(atPath: folder.pushing(FilePath(name)).string)?
                .range(of: Data(word.utf8)) != nil
        }
    }

    private func archived(_ home: AgentHome) throws -> [StoreFolder.Object] {
        try home.store.objects().filter { $0.key.hasPrefix("gallery-archive/ana/") }
    }

    @Test func `with a new ledger the clock is judged by what is found, before a text is deleted`() async throws {
        let home = try AgentHome()
        try Self.write([Self.event("e1", age: 800)], "old.json", in: home)
        let file = home.gallery.appending("old.json")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -800 * 86_400)], ofItemAtPath: file.string)
        for finished in [try await home.run("cleanup", "--dry-run"), try await home.run("cleanup")] {
            #expect(finished.code == 1 && finished.complaint.contains("--trust-clock"), "\(finished.complaint)")
        }
        #expect(try planted(below: home.gallery) == ["old.json"])
        #expect(try await home.run("cleanup", "--trust-clock").code == 0)
        #expect(try planted(below: home.gallery).isEmpty)
    }

    @Test func `what failed keeps its text beside what is stored, and the dry run says so, too`() async throws {
        let home = try AgentHome()
        let event = try Self.event("e1", age: 100).replacing("\"text\":", with: "\"photoData\":\"pic.jpg\",\"text\":")
        let (photo, sub) = (try SamplePhoto.unique(1), home.gallery.appending("sub"))
        try FileManager.default.createDirectory(atPath: sub.string, withIntermediateDirectories: true)
        try home.gallery.appending("pic.jpg").create(photo)
        try sub.appending("pic.jpg").create(Array(photo.prefix(photo.count / 2)))
        for folder in [home.gallery, sub] { try folder.appending("h.json").create(Array("[\(event)]".utf8)) }
        #expect(try await home.run("sync").code == 3)
        let forecast: Answer = try answer(await home.run("cleanup", "--dry-run", "--json"), code: 3)
        let done: Answer = try answer(await home.run("cleanup", "--json"), code: 3)
        for answer in [forecast, done] {
            #expect((answer.archived, answer.deleted) == (1, 1))
            #expect(answer.errors.map(\.file) == [sub.appending("h.json").string])
        }
        #expect(try planted(below: home.gallery) == ["sub/h.json"])
    }

    @Test(arguments: [false, true])
    func `a file that it has emptied is none of the photos that are missing`(isAlone: Bool) async throws {
        let home = try AgentHome()
        if !isAlone { try home.gallery.appending("b.jpg").create(SamplePhoto.unique(9)) }
        try Self.write([Self.event("e1", age: 100, photo: 1)], "a.json", in: home)
        #expect(try await home.run("sync").code == 0)
        let done: Answer = try answer(await home.run("cleanup", "--json"))
        #expect(done.archived == 1)
        #expect(try await home.run("sync").code == 0)
        let missing = try await home.run("forget", "--missing", "--yes")
        #expect(missing.code == 0 && missing.text.hasPrefix("0 photos forgotten"), "\(missing)")
        let named = try await home.run("forget", "--yes", home.gallery.appending("a.json").string)
        #expect(named.code == 3 && named.text.contains("sync-agent cleanup is done with them"), "\(named)")
    }

    @Test func `a file that the cleanup itself has just rewritten is gone through to its end`() async throws {
        let home = try AgentHome(settle: "3", more: "retention: {batch_size: 1}")
        try Self.write((0..<4).map { try Self.event("e\($0)", age: 100 - Double($0), photo: $0) }, "a.json", in: home)
        let done: Answer = try answer(await home.run("cleanup", "--json"))
        #expect((done.archived, done.deleted, done.skipped, done.errors.count) == (4, 4, 0, 0))
        #expect(try planted(below: home.gallery) == [])
    }

    @Test func `after 91 days no text is on the disk, and every photo is in the archive`() async throws {
        let home = try AgentHome(more: "retention: {keep_titles: false}")
        var events: [String] = []
        for number in 0..<60 {
            events.append(
                try Self.event("e\(number)", age: 91 + Double(number), photo: number.isMultiple(of: 3) ? nil : number))
        }
        for (number, start) in stride(from: 0, to: 60, by: 10).enumerated() {
            try Self.write(Array(events[start..<start + 10]), "month \(number).json", in: home)
        }
        try Self.write([events[4], events[17], events[30]], "replay.json", in: home)
        let young = try Self.event("young", age: 10).replacing("PLANTED", with: "KEPT")
        try Self.write([events[59], young], "mixed.json", in: home)
        _ = try await home.pass()
        #expect(try planted(below: home.tree.path("state")) == [])
        #expect(try planted(below: home.store.root) == [])
        #expect(try planted(below: home.gallery).count == 8)

        let forecast: Answer = try answer(await home.run("cleanup", "--dry-run", "--json"))
        #expect((forecast.archived, forecast.deleted) == (40, 60))
        #expect(try planted(below: home.gallery).count == 8)
        let answer: Answer = try answer(await home.run("cleanup", "--json"))
        #expect((answer.archived, answer.deleted, answer.skipped, answer.errors.count) == (40, 60, 0, 0))
        #expect(try planted(below: home.tree.root) == [])
        #expect(try planted(below: home.gallery, "KEPT") == ["mixed.json"])
        #expect(try archived(home).count == 40)
        #expect(try home.store.isSound())
        // What the agent then finds in the folder is nothing new.
        #expect(try await home.pass().uploaded == 0)
        let again: Answer = try self.answer(await home.run("cleanup", "--json"))
        #expect((again.archived, again.deleted) == (0, 0))
    }

    @Test func `what fails is named, and told again by the report`() async throws {
        let home = try AgentHome()
        let cut = Data(try SamplePhoto.truncated(1)).base64EncodedString()
        let damaged = try Self.event("damaged", age: 100).replacing("\n", with: "\"photoData\":\"\(cut)\",")
        try Self.write(
            [damaged, try Self.event("good", age: 100), try Self.event("phone", age: 100, profile: "+1 778 814 3739")],
            "a.json", in: home)
        _ = try await home.run("sync")
        let answer: Answer = try answer(await home.run("cleanup", "--json"), code: 3)
        #expect((answer.archived, answer.deleted, answer.skipped) == (0, 1, 1))
        #expect(answer.errors.map(\.event) == ["damaged"])
        #expect(answer.errors[0].file == home.gallery.appending("a.json").string)
        let report: Overdue = try self.answer(await home.run("cleanup", "--report", "--json"))
        #expect((report.overdue, report.archived, report.deleted) == (2, 0, 1))
        #expect(Set(report.events.map(\.event)) == ["damaged", "phone"])
        #expect(report.events.allSatisfy { $0.reason != nil })
        let text = try await home.run("cleanup", "--report").text
        #expect(text.contains("2 events overdue") && !text.contains("PLANTED"))
    }

    @Test(arguments: [true, false])
    func `of a file that a program has open the report says so, and names it`(isKnown: Bool) async throws {
        let home = try AgentHome(settle: "0")
        try Self.write([try Self.event("e1", age: 91)], "a.json", in: home)
        if isKnown { _ = try await home.pass() }
        let file = home.gallery.appending("a.json")
        let writer = try FileDescriptor.open(file, .writeOnly, options: [.append, .closeOnExec])
        let report: Overdue = try self.answer(await home.run("cleanup", "--report", "--json"))
        let text = try await home.run("cleanup", "--report").text
        try writer.close()
        #expect(report.events.map(\.reason) == ["the file is still being written; the next cleanup reads it"])
        #expect(text.contains("  e1 in \(file)  due since ") && !text.contains("not tried yet"), "\(text)")
    }

    @Test func `an agent that starts makes the missed run up`() async throws {
        let home = try AgentHome()
        try Self.write([try Self.event("e1", age: 91, photo: 1)], "a.json", in: home)
        _ = try await home.pass()
        let agent = try await home.startAgent()
        // The event is signed off behind the end of its text.
        try await eventually("an event that is signed off") {
            let report: Overdue = try answer(await home.run("cleanup", "--report", "--json"))
            return (report.overdue, report.archived) == (0, 1) ? () : nil
        }
        #expect(try planted(below: home.gallery).isEmpty && archived(home).count == 1)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        let report: Overdue = try answer(await home.run("cleanup", "--report", "--json"))
        #expect((report.overdue, report.archived) == (0, 1))
    }

    @Test func `an old event that no sync has seen is cleaned up, by hand and by an agent that starts`() async throws {
        let home = try AgentHome()
        try Self.write([try Self.event("e1", age: 91, photo: 1)], "a.json", in: home)
        let forecast: Answer = try answer(await home.run("cleanup", "--dry-run", "--json"))
        #expect(forecast.deleted == 1)
        let report: Overdue = try answer(await home.run("cleanup", "--report", "--json"))
        #expect(report.events.map(\.event) == ["e1"])
        let answer: Answer = try answer(await home.run("cleanup", "--json"))
        #expect((answer.archived, answer.deleted) == (1, 1))
        #expect(try planted(below: home.gallery) == [])
        // The first thing that a new agent does, on a ledger that knows nothing.
        let other = try AgentHome()
        try Self.write([try Self.event("e2", age: 91, photo: 2)], "b.json", in: other)
        let agent = try await other.startAgent()
        _ = try await eventually("the end of the text") {
            try planted(below: other.gallery).isEmpty && archived(other).count == 1 ? true : nil
        }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `what an edit has kept is not told as deleted`() async throws {
        let home = try AgentHome()
        try Self.write([try Self.event("e1", age: 91)], "a.json", in: home)
        _ = try await home.run("sync")
        try Self.write([try Self.event("e1", age: 10)], "a.json", in: home)
        let answer: Answer = try answer(await home.run("cleanup", "--json"))
        #expect((answer.archived, answer.deleted, answer.errors.count) == (0, 0, 0))
        #expect(try planted(below: home.gallery) == ["a.json"])
        #expect(try await !home.run("status").text.contains("Everything is safe"))
    }

    @Test func `files that cannot be told are named, also by the report`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("bad.json").create(Array("[{\"id\": \"PLANTED\", \"createdAt\": ".utf8))
        try Self.write([try Self.event("good", age: 91)], "a.json", in: home)
        let answer: Answer = try answer(await home.run("cleanup", "--json"), code: 3)
        #expect(answer.deleted == 1)
        #expect(answer.errors.map(\.file) == [home.gallery.appending("bad.json").string])
        #expect(answer.errors.allSatisfy { !$0.reason.contains("PLANTED") })
        #expect(try await home.run("cleanup", "--report").text.contains("bad.json"))
    }

    @Test func `while the store is away, what is due is said to wait`() async throws {
        let home = try AgentHome()
        try Self.write([try Self.event("e0", age: 91, photo: 0)], "z.json", in: home)
        _ = try await home.pass()
        try Self.write([try Self.event("e1", age: 91, photo: 1)], "a.json", in: home)
        let away = home.tree.path("away")
        try FileManager.default.moveItem(atPath: home.store.root.string, toPath: away.string)
        let finished = try await home.run("cleanup")
        #expect(finished.code == 69)
        #expect(finished.text.contains("2 events older than 90 days still have their text and wait for the store."))
        try FileManager.default.moveItem(atPath: away.string, toPath: home.store.root.string)
        let answer: Answer = try answer(await home.run("cleanup", "--json"))
        #expect(answer.deleted == 2)
    }

    @Test func `two cleanups at once do no harm`() async throws {
        let home = try AgentHome(more: "retention: {batch_size: 2}")
        for number in 0..<12 {
            try Self.write([try Self.event("e\(number)", age: 91, photo: number)], "\(number).json", in: home)
        }
        _ = try await home.pass()
        let both = try [home.start(["cleanup"]), home.start(["cleanup"])]
        for process in both { #expect([0, 75].contains(try await process.finished().code)) }
        let last: Answer = try answer(await home.run("cleanup", "--json"))
        #expect(last.errors.isEmpty)
        #expect(try planted(below: home.gallery) == [])
        #expect(try archived(home).count == 12)
    }

    @Test func `killed at any moment, nothing is deleted that is not proven, and the next run completes`() async throws
    {
        print("cleanup kills: SYNC_AGENT_KILL_SEED=\(Self.seed) SYNC_AGENT_KILL_ROUNDS=\(Self.rounds) repeats them")
        var dice = Dice(seed: Self.seed)
        let home = try AgentHome(more: "retention: {batch_size: 3, keep_titles: false}")
        for round in 0..<Self.rounds {
            let ids = (0..<8).map { "r\(round)-\($0)" }
            let events = try ids.enumerated().map { try Self.event($1, age: 91, photo: round * 8 + $0) }
            try Self.write(Array(events[0..<4]), "\(round) four.json", in: home)
            for number in 4..<8 { try Self.write([events[number]], "\(round) \(number).json", in: home) }
            try Self.write([events[1], events[6]], "\(round) replay.json", in: home)
            _ = try await home.pass()
            let before = try archived(home).count

            let wanted = before + Int.random(in: 0...8, using: &dice)
            var glances = Int.random(in: 0..<40, using: &dice)
            let killed = try home.start(["cleanup"])
            while !killed.progress.value.isOver, glances > 0 {
                await Task.yield()
                if (try? archived(home).count) ?? 0 >= wanted { glances -= 1 }
            }
            killed.send(SIGKILL)
            _ = try await killed.finished()

            let proven = Set(try archived(home).compactMap { $0.metadata["event-id"] })
            for id in ids where try planted(below: home.gallery, "words \(id)\"").isEmpty {
                #expect(proven.contains(id), "round \(round) of seed \(Self.seed)")
            }
            let answer: Answer = try answer(await home.run("cleanup", "--json"))
            #expect(answer.errors.isEmpty && answer.skipped == 0, "round \(round) of seed \(Self.seed): \(answer)")
            #expect(try planted(below: home.tree.root) == [], "round \(round) of seed \(Self.seed)")
            #expect(Set(ids).isSubset(of: try archived(home).compactMap { $0.metadata["event-id"] }))
            let report: Overdue = try self.answer(await home.run("cleanup", "--report", "--json"))
            #expect(report.overdue == 0 && report.deleted == 8 * (round + 1))
        }
        #expect(try home.store.isSound())
        #expect(try FileManager.default.subpathsOfDirectory(atPath: home.gallery.string) == [])
    }
}
