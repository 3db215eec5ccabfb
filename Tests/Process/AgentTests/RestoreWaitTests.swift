import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Those who wait for a restore, and those who are told when it has ended.
struct RestoreWaitTests {
    /// Appends a line for each notice: its kind, the job, and what is ready.
    private static let program = """
        #!/bin/sh
        echo "$SYNC_AGENT_KIND $SYNC_AGENT_JOB_ID $SYNC_AGENT_READY $SYNC_AGENT_FAILED" >> "$1"
        """

    private func archivedHome(restoring: Int) async throws -> AgentHome {
        let home = try AgentHome(restoring: restoring, more: AgentHome.archivesAtOnce)
        for number in 0..<4 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        return home
    }

    /// A home whose notices go to the file `told`.
    private func homeWithNotices() async throws -> (home: AgentHome, told: FilePath) {
        let home = try await archivedHome(restoring: 1)
        let script = try home.tree.writeProgram(Self.program, to: "tell")
        let told = home.tree.path("told")
        let configuration = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(configuration + "notify: {command: [\(script), \(told)]}")
        return (home, told)
    }

    @Test func `whoever waits gets a plain line for each step where no terminal is, and the photos at the end`()
        async throws
    {
        let home = try await archivedHome(restoring: 3_600)
        let output = home.tree.path("back")
        let waiting = try home.start(["restore", "Rome", "--yes", "--wait", "--output", output.string])
        try await waiting.logged { $0.contains("0 of 4 photos saved") }
        // Over when the first step is told, and not before. What another process notes counts for whoever waits.
        try home.store.endCopies(inSeconds: 86_400)
        _ = try await home.refreshed { $0.saved == 4 }
        let finished = try await waiting.finished()
        #expect(finished.code == 0)
        #expect(finished.text.contains("4 photos can be read now, 4 saved in \(output)"))
        #expect(!finished.output.contains(0x1B) && !finished.errors.contains(0x1B))
        #expect(try home.tree.photos(below: "back") == (0..<4).map { "Rome/\($0).jpg" })
    }

    @Test func `a photo that another process has in hand is not called saved`() async throws {
        let home = try AgentHome()
        for number in 0..<2 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let folder = try home.tree.makeFolder("back/Rome")
        let held = try HeldObject(lock: folder.appending(".1.jpg.sync-agent-part"))
        let output = home.tree.path("back").string
        let finished = try await home.run("restore", "Rome", "--yes", "--json", "--output", output)
        #expect(finished.code == 3, "\(finished)")
        #expect(finished.text.contains("another process has it in hand"), "\(finished)")
        #expect(finished.complaint.contains("Rome/1.jpg: another process has it in hand"), "\(finished)")
        held.release()
        #expect(try await home.run("restores", "--refresh").code == 0)
        #expect(try home.tree.files(below: "back") == ["Rome/0.jpg", "Rome/1.jpg"])
    }

    @Test func `what can be read at once is saved at once, without an agent and without waiting`() async throws {
        let home = try AgentHome()
        for number in 0..<3 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let answer = try await home.restore("Rome", "--output", home.tree.path("back").string)
        #expect(answer.items.map(\.state) == Array(repeating: "restored", count: 3))
        #expect(try home.tree.files(below: "back") == (0..<3).map { "Rome/\($0).jpg" })
        #expect(try await home.restores().map(\.saved) == [3])
        let output = home.tree.path("again")
        let finished = try await home.run("restore", "Rome", "--yes", "--output", output.string)
        #expect(finished.code == 0 && finished.text.contains("3 photos saved in \(output)"))
        #expect(!finished.text.contains("at the latest"))
        #expect(try home.tree.files(below: "again") == (0..<3).map { "Rome/\($0).jpg" })
        // A name that is taken stays, and is told.
        try home.tree.write("mine", to: "taken/Rome/1.jpg")
        let taken = try await home.run("restore", "Rome", "--yes", "--output", home.tree.path("taken").string)
        #expect(taken.code == 3 && taken.complaint.contains("another file has this name"), "\(taken)")
        #expect(taken.text.contains("2 photos saved in"))
        #expect(String(decoding: try home.tree.read("taken/Rome/1.jpg"), as: UTF8.self) == "mine")
    }

    @Test func `what could not be saved is in the answer with its reason, whether somebody waits or not`() async throws
    {
        let home = try AgentHome()
        for number in 0..<3 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let taken = home.tree.path("taken")
        for number in 1..<3 { try home.tree.write("mine", to: "taken/Rome/\(number).jpg") }
        let places = [1, 2].map { "\(taken)/Rome/\($0).jpg" }
        let answers = [
            try await home.restore("Rome", "--output", taken.string, code: 3),
            try await home.restore("Rome", "--wait", "--output", taken.string, code: 3),
        ]
        for answer in answers {
            #expect(answer.notSaved.map(\.path).sorted() == places, "\(answer)")
            #expect(answer.notSaved.allSatisfy { $0.reason.hasPrefix("another file has this name") })
            #expect(answer.items.allSatisfy { $0.error == nil })
        }
        let refreshed = try await home.run("restores", "--refresh", "--json")
        let jobs = try JSONDecoder().decode(RestoreJobs.self, from: Data(refreshed.output))
        #expect(refreshed.code == 3 && Set(jobs.notSaved.map(\.path)) == Set(places))
        #expect(try await home.restore("Rome", "--output", home.tree.path("free").string).notSaved.isEmpty)
    }

    @Test func `what cannot be saved is told as it stands by sync and restores --refresh, which then end with 3`()
        async throws
    {
        let home = try AgentHome()
        try home.vacations.pushing("Rome/1.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.tree.write("mine", to: "taken/Rome/1.jpg")
        let taken = home.tree.path("taken")
        #expect(try await home.run("restore", "Rome", "--yes", "--output", taken.string).code == 3)
        for _ in 0..<2 {
            let refreshed = try await home.run("restores", "--refresh")
            #expect(refreshed.code == 3 && refreshed.text.contains("being saved"), "\(refreshed)")
            #expect(
                refreshed.complaint.contains("another file has this name") && !refreshed.complaint.contains("warning"))
            let pass = try await home.run("sync")
            #expect(pass.code == 3 && pass.text.contains("another file has this name"), "\(pass)")
            #expect(!pass.complaint.contains("warning") && pass.text.contains("sync-agent restores"))
        }
        #expect(try await home.run("restores", "--stop-saving").code == 64)
        #expect(try await home.run("restores", "99", "--stop-saving").code == 66)
        let other = home.tree.path("other")
        try home.tree.write("mine", to: "other/Rome/1.jpg")
        #expect(try await home.run("restore", "Rome", "--yes", "--output", other.string).code == 3)
        let ended = try await home.run("restores", "2", "--stop-saving", "--json")
        #expect(ended.code == 0 && ended.text.contains(#""output" : null"#), "\(ended)")
        let place = "\(other)/Rome/1.jpg"
        let jobs = try JSONDecoder().decode(RestoreJobs.self, from: Data(ended.output))
        #expect(jobs.notSaved.map(\.path) == [place])
        #expect(jobs.notSaved.allSatisfy { $0.reason.hasPrefix("given up") && $0.reason.contains("can be read") })
        #expect(ended.complaint.contains("not saved  \(place): given up"), "\(ended)")
        let again = try await home.run("restores", "2", "--stop-saving")
        #expect(again.code == 0 && again.complaint.contains("stopped already; 1 photo given up"), "\(again)")
        #expect(again.complaint.contains("not saved  \(place): given up"), "\(again)")
        #expect(again.text.contains("not saved: given up (--stop-saving)"), "\(again)")
        let repeated = try await home.run("restores", "2", "--stop-saving", "--json")
        let same = try JSONDecoder().decode(RestoreJobs.self, from: Data(repeated.output)).notSaved
        #expect(same.map(\.path) == [place] && same.map(\.reason) == jobs.notSaved.map(\.reason), "\(repeated)")
        // In the hand of a process that is no more.
        try await home.changeLedger("UPDATE restore_items SET claimed_by = '1-5' WHERE job_id = 2")
        #expect(try await home.run("restores", "2", "--json").text.contains(#""note" : "not saved: given up"#))
        let left = try await home.run("sync")
        #expect(left.text.contains("\(taken)") && !left.text.contains("\(other)"), "\(left)")
        try taken.appending("Rome").appending("1.jpg").remove()
        #expect(try await home.run("restores", "--refresh").code == 0)
        #expect(try await home.run("sync").code == 0)
    }

    @Test func `a folder that is to get photos knows its job at once, and one that cannot be made is not paid for`()
        async throws
    {
        let home = try await archivedHome(restoring: 3_600)
        try home.tree.write("mine", to: "blocked")
        let refused = try await home.run("restore", "Rome", "--yes", "--output", home.tree.path("blocked").string)
        #expect(refused.code == 1 && refused.complaint.contains("no folder has this name"), "\(refused)")
        #expect(try await home.restores().isEmpty && home.store.restoreTiers().isEmpty)
        let costly = try await home.run(
            "restore", "Rome", "--yes", "--max-cost", "0", "--output", home.tree.path("dear").string)
        #expect(costly.code == 1 && !FileManager.default.fileExists(atPath: home.tree.path("dear").string), "\(costly)")
        #expect(try await home.restore("Rome", "--output", home.tree.path("back").string).jobId == "1")
        let files = try home.tree.files(below: "back")
        #expect(files.count == 1 && files.allSatisfy { $0.hasPrefix(".sync-agent-restore-1-") })
    }

    @Test func `a folder above --output that may not be entered is named, with what helps`() async throws {
        let home = try AgentHome()
        for number in 0..<2 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let (above, output) = (home.tree.path("above"), home.tree.path("above/back"))
        try home.tree.write("mine", to: "above/back/Rome/1.jpg")
        #expect(try await home.run("restore", "Rome", "--yes", "--output", output.string).code == 3)
        try output.pushing("Rome/1.jpg").remove()
        try above.setMode(0)
        let refused = try await home.runBoundByPermissions("restores", "--refresh")
        try above.setMode(0o755)
        let told = "\(output)/Rome/1.jpg: \(above) may not be read and entered; allow it (chmod u+rx)"
        #expect(refused.code == 3 && refused.complaint.contains(told), "\(refused)")
        #expect(try await home.run("restores", "--refresh").code == 0)
        #expect(try home.tree.photos(below: "above") == ["back/Rome/0.jpg", "back/Rome/1.jpg"])
    }

    @Test
    func
        `photos that are to be saved in a watched folder are told to count there, and the program's own folders are refused`()
        async throws
    {
        let home = try AgentHome()
        try home.gallery.appending("1.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.gallery.appending("1.jpg").remove()
        let back = try await home.run("restore", "--yes", "--output", home.gallery.string, "\(home.gallery)/1.jpg")
        #expect(back.code == 0 && back.complaint.contains("watched folder"), "\(back)")
        #expect(try await home.pass().uploaded == 0)
        for folder in [home.store.root, home.tree.path("state/sync-agent/x")] {
            let refused = try await home.run("restore", "--yes", "--output", folder.string, home.gallery.string)
            #expect(refused.code == 64 && refused.complaint.contains("name another folder"), "\(refused)")
            let mirrored = try await home.run("mirror", "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10", folder.string)
            #expect(mirrored.code == 64 && mirrored.complaint.contains("name another folder"), "\(mirrored)")
        }
    }

    @Test func `a folder that leads into the store by the time when it is made is refused`() async throws {
        let home = try await archivedHome(restoring: 3_600)
        #expect(try await home.restore("Rome").items.count == 4)
        let link = home.tree.path("link").string
        let good = try home.tree.makeFolder("good").string
        #expect(symlink(good, link) == 0)
        let waiting = try home.start(["restore", "Rome", "--yes", "--wait", "--output", link])
        try await waiting.logged { $0.contains("0 of 4 photos restored") }
        #expect(unlink(link) == 0 && symlink(home.store.root.string, link) == 0)
        try home.store.endCopies(inSeconds: 86_400)
        _ = try await home.refreshed { $0.state == "ready" }
        let finished = try await waiting.finished()
        #expect(finished.code == 64 && finished.complaint.contains("name another folder"), "\(finished)")
        #expect(try await home.restores().count == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: home.store.root.string)
        #expect(!names.contains(where: { $0 == "Rome" || $0.hasPrefix(".sync-agent-restore-") }))
    }

    @Test func `what can be read is saved at once, and what is archived when it is there`() async throws {
        let home = try await archivedHome(restoring: 3_600)
        let config = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(config.replacing("archive_after_days: 0", with: "archive_after_days: 180"))
        try home.vacations.pushing("Rome/9.jpg").create(SamplePhoto.unique(9))
        #expect(try await home.run("sync").code == 0)
        let answer = try await home.restore("Rome", "--output", home.tree.path("back").string)
        #expect(answer.items.count { $0.state == "retrieving" } == 4)
        #expect(try home.tree.photos(below: "back") == ["Rome/9.jpg"])
    }

    @Test func `whoever waits with JSON gets one object, and its items are restored`() async throws {
        let home = try await archivedHome(restoring: 1)
        let answer = try await home.restore("Rome", "--wait", "--output", home.tree.path("back").string)
        #expect(try home.tree.files(below: "back") == (0..<4).map { "Rome/\($0).jpg" })
        #expect(answer.items.map(\.state) == Array(repeating: "restored", count: 4))
    }

    @Test func `whoever waits is told that the saving was stopped, and what is not saved`() async throws {
        let home = try await archivedHome(restoring: 3_600)
        let output = home.tree.path("back")
        let waiting = try home.start(["restore", "Rome", "--yes", "--wait", "--json", "--output", output.string])
        try await waiting.logged { $0.contains("0 of 4 photos saved") }
        #expect(try await home.run("restores", "1", "--stop-saving").code == 0)
        let finished = try await waiting.finished()
        #expect(finished.code == 3, "\(finished)")
        #expect(finished.complaint.contains("another process has stopped the saving of restore 1"), "\(finished)")
        let answer = try JSONDecoder().decode(RestoreAnswer.self, from: Data(finished.output))
        #expect(answer.notSaved.map(\.path) == (0..<4).map { "\(output)/Rome/\($0).jpg" })
        #expect(answer.notSaved.allSatisfy { $0.reason.hasPrefix("given up") })
        #expect(try await home.restores().map(\.state) == ["retrieving"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `ctrl-C ends the waiting with 130 and the job's number, and the job goes on`(signal: Int32) async throws {
        let home = try await archivedHome(restoring: 3_600)
        let waiting = try home.start(["restore", "Rome", "--yes", "--wait"])
        try await waiting.logged { $0.contains("0 of 4 photos restored") }
        waiting.send(signal)
        let finished = try await waiting.finished()
        #expect(finished.code == 128 + signal)
        #expect(
            finished.complaint.contains(
                "restore 1 continues in the background; follow it with: sync-agent restores 1"))
        #expect(try await home.restores().map(\.state) == ["retrieving"])
    }

    @Test func `the agent follows a job, saves it and tells of it once, also when it is started again`() async throws {
        let (home, told) = try await homeWithNotices()
        let agent = try await home.startAgent()
        #expect(try await home.restore("Rome", "--output", home.tree.path("back").string).items.count == 4)
        _ = try await home.restore { $0.state == "ready" && $0.saved == 4 }
        try await expectTold("restoreReady 1 4 0\n", in: told)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)

        let second = try await home.startAgent()
        // A second job shows that the second agent has looked at all of them.
        #expect(try await home.restore("Rome", "--output", home.tree.path("more").string).jobId == "2")
        try await expectTold("restoreReady 1 4 0\nrestoreReady 2 4 0\n", in: told)
        second.send(SIGTERM)
        #expect(try await second.finished().code == 0)
    }

    /// Waits for as many whole lines as are expected: the shell makes the file before it has anything to write.
    private func expectTold(_ expected: String, in told: FilePath) async throws {
        var seen = ""
        let text = try await eventually("a notice", seen: { seen }) {
            seen = (try? told.bytes).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return seen.split(separator: "\n", omittingEmptySubsequences: false).count
                >= expected.split(separator: "\n", omittingEmptySubsequences: false).count ? seen : nil
        }
        #expect(text == expected)
    }

    @Test func `of a job in which something failed it is told as of a failure`() async throws {
        let (home, told) = try await homeWithNotices()
        #expect(try await home.restore("Rome").items.count == 4)
        // Gone from the store, past the agent.
        try #require(try home.store.photoRecordPaths().first).remove()
        let job = try await home.refreshed { $0.state == "partlyReady" }
        #expect(job.done == 3 && job.failed == 1)
        #expect(String(decoding: try told.bytes, as: UTF8.self) == "restoreFailed 1 3 1\n")
        let lines = try await home.run("restores", "1").text
        let listed = lines.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(listed.contains("nothing is stored under") && listed.contains("in a watched folder brings it back"))
    }

    @Test func `nobody waits for a photo of which the store's record is cut`() async throws {
        let home = try await archivedHome(restoring: 1)
        let record = try #require(try home.store.photoRecordPaths().first)
        try record.remove()
        try record.create(Array("{".utf8))
        let answer = try await home.restore("Rome", "--wait", code: 3)
        #expect(answer.items.map(\.state).sorted() == ["failed", "restored", "restored", "restored"], "\(answer)")
        let reason = try #require(answer.items.compactMap(\.error).first)
        #expect(reason.contains("cannot be read; check the disk. Where the object's file is still here, sync-agent "))
    }
}
