import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What `share` publishes is what is in the folder at that moment, whoever looked there last.
struct ShareLookTests {
    private struct VacationList: Decodable {
        struct Vacation: Decodable {
            var location: String
            var state: String
            var shareChangedBy: Int?
        }

        var vacations: [Vacation]
    }

    private struct ChangedShares: Decodable {
        struct Share: Decodable {
            var shareId: String
            var state: String
            var changedBy: Int?
            var message: String?
        }

        var shares: [Share]
    }

    private func decoded<Answer: Decodable>(_ home: AgentHome, _ arguments: String...) async throws -> Answer {
        let finished = try await home.start(arguments).finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    /// What a command prints, without its line breaks.
    private func said(_ home: AgentHome, _ arguments: String...) async throws -> String {
        let finished = try await home.start(arguments).finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return finished.text.words
    }

    /// One photo is deleted, one altered, one added.
    private func edit(_ home: AgentHome) throws {
        try home.photo(0).remove()
        try home.photo(1).create(SamplePhoto.taken(31))
        try home.photo(9).create(SamplePhoto.taken(39))
    }

    private func times(_ home: AgentHome, _ id: String) async throws -> [String] {
        let bytes = try await StoredBytes.folder(home.store).of("shares/\(id)/vacation.json")
        return try JSONDecoder().decode(SharedManifest.self, from: Data(bytes)).photos.compactMap(\.takenAt)
    }

    @Test func `without an agent, what was deleted or altered since the last pass is not shared, and what is new is`()
        async throws
    {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        let share = try await home.share()
        try edit(home)
        let again = try await home.share()
        #expect(again.shareId == share.shareId && again.photoCount == 3 && again.skipped.isEmpty)
        let seen = try await times(home, try #require(share.shareId))
        #expect(seen.map { $0.prefix(16) } == ["2024-06-15T10:02", "2024-06-15T10:31", "2024-06-15T10:39"])
        // They are stored, too, as by a pass.
        #expect(try await home.photo(home.photo(9))?.state == "uploaded")
        let status: VacationList = try await decoded(home, "status", "--json")
        #expect(status.vacations.map(\.state) == ["shared"])
    }

    @Test func `the stored copy of a photo in its place, as a restore brings it, is shared as the photo`() async throws
    {
        let home = try AgentHome()
        let photo = home.photo(0)
        try photo.create(SamplePhoto.long())
        try home.photo(1).create(SamplePhoto.taken(1))
        _ = try await home.pass()
        let key = try #require(try await home.photo(photo)?.key)
        let copy = try await StoredBytes.folder(home.store).of(key)
        #expect(try copy != SamplePhoto.long())
        try photo.remove()
        try photo.create(copy)
        let share = try await home.share()
        #expect(share.photoCount == 2 && share.skipped.isEmpty)
    }

    @Test func `a folder that no pass has seen yet is shared`() async throws {
        let home = try AgentHome()
        for number in 0..<2 { try home.photo(number).create(SamplePhoto.taken(number)) }
        #expect(try await home.share().photoCount == 2)
    }

    @Test(arguments: [["--yes"], ["--dry-run"]])
    func `of a folder without photos it is told that there is none in it yet`(options: [String]) async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        let folder = try home.tree.makeFolder("home/Vacations/Oslo_Norway_2025-06-01_2025-06-08")
        for name in ["Oslo_Norway_2025-06-01_2025-06-08", folder.string] {
            let finished = try await home.start(["share"] + options + [name]).finished()
            #expect(finished.code == 66 && finished.complaint.contains("there is no photo in it yet"), "\(finished)")
        }
    }

    @Test func `a dry run tells of the folder as it is, and remembers nothing`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        try edit(home)
        let forecast = try await home.share("--dry-run", AgentHome.trip)
        #expect(forecast.photoCount == 3 && forecast.state == "planned")
        #expect(try await home.photo(home.photo(0))?.state == "uploaded")
        #expect(try await home.photo(home.photo(9)) == nil)
    }

    @Test(arguments: [["--yes"], ["--dry-run"], ["--export", "page"]])
    func `a photo that is still being written is named, and nothing is shared or foretold`(options: [String])
        async throws
    {
        let home = try AgentHome(settle: "0.4")
        try await home.takeTrip(photos: 1)
        let file = home.photo(7)
        // It has the file open, and writes to it all the time.
        let writer = try ChildProcess(
            "/bin/sh", ["-c", "exec 3>\"$0\"; while :; do printf x >&3; sleep 0.02; done", file.string],
            environment: home.environment)
        _ = try await eventually("the first byte of \(file)") { try? file.bytes.first }
        let finished = try await home.start(
            ["share"] + options.map { $0 == "page" ? home.tree.path("page").string : $0 } + [AgentHome.trip]
        ).finished()
        writer.send(SIGKILL)
        _ = try await writer.finished()
        #expect(finished.code == 1, "\(finished)")
        #expect(finished.complaint.contains("just being written (7.jpg): nothing was shared"), "\(finished)")
        #expect(try await home.shares().isEmpty)
    }

    @Test(arguments: ["--yes", "--dry-run"])
    func `a photo that somebody has open for writing, and has not written to for a while, is no whole one`(
        option: String
    ) async throws {
        let home = try AgentHome(settle: "0")
        try await home.takeTrip(photos: 1)
        try home.photo(7).create(SamplePhoto.truncated(7))
        let writer = try FileDescriptor.open(home.photo(7), .writeOnly, options: [.append, .closeOnExec])
        let finished = try await home.run("share", option, AgentHome.trip)
        try writer.close()
        #expect(finished.code == 1, "\(finished)")
        #expect(finished.complaint.contains("just being written (7.jpg): nothing was shared"), "\(finished)")
        #expect(try await home.shares().isEmpty)
    }

    @Test func `beside an agent, a photo that somebody has open for writing is not shared as it is`() async throws {
        let home = try AgentHome(settle: "0")
        try await home.takeTrip(photos: 1)
        let agent = try await home.startAgent()
        let writer = try FileDescriptor.open(
            home.photo(7), .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        try writer.writeAll(SamplePhoto.truncated(7))
        try home.photo(8).create(SamplePhoto.taken(38))
        _ = try await agent.outcome(of: home.photo(8))
        let finished = try await home.run("share", "--yes", AgentHome.trip)
        try writer.close()
        #expect(finished.code == 1, "\(finished)")
        #expect(finished.complaint.contains("just being written (7.jpg): nothing was shared"), "\(finished)")
        #expect(try await home.shares().isEmpty)
    }

    @Test(arguments: ["--yes", "--dry-run", "--json"])
    func `a vacation whose only photo cannot be read is found, and the photo is named with the reason`(option: String)
        async throws
    {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        try home.photo(0).setMode(0)
        let unread = try await home.runBoundByPermissions("share", AgentHome.trip, option)
        #expect(
            unread.code == 1 && unread.complaint.contains("0.jpg: it cannot be read: permission denied"), "\(unread)")
        // What is read, and is half a picture.
        try home.photo(0).setMode(0o600)
        try home.photo(0).overwrite(SamplePhoto.truncated(0))
        _ = try await home.run("sync")
        let half = try await home.run("share", AgentHome.trip, option)
        #expect(half.code == 1 && half.complaint.contains("0.jpg: cannot be stored: "), "\(half)")
        #expect(!half.complaint.contains("tell why"), "\(half)")
        #expect(try await home.shares().isEmpty)
    }

    @Test func `what cannot be stored is told by a dry run and an export as by the share, before any pass`()
        async throws
    {
        let home = try AgentHome()
        for number in 0..<2 { try home.photo(number).create(SamplePhoto.truncated(number)) }
        try home.photo(2).create(Array("no picture".utf8))
        let page = home.tree.path("page").string
        for options in [["--dry-run"], ["--export", page], ["--yes"]] {
            let finished = try await home.start(["share"] + options + [AgentHome.trip]).finished()
            #expect(finished.code == 1, "\(options): \(finished)")
            for number in 0..<3 {
                #expect(finished.complaint.contains("  \(number).jpg: cannot be stored: "), "\(options): \(finished)")
            }
        }
        #expect(try await home.shares().isEmpty)
    }

    @Test func `a dry run and an export leave out the damaged photos that the share leaves out`() async throws {
        let home = try AgentHome()
        try home.photo(0).create(SamplePhoto.truncated(0))
        try home.photo(1).create(SamplePhoto.taken(1))
        let page = home.tree.path("page").string
        let forecast = try await home.share("--dry-run", AgentHome.trip)
        let exported = try await home.run("share", "--export", page, AgentHome.trip)
        #expect(exported.code == 0 && exported.text.words.contains("cannot be stored: "), "\(exported)")
        #expect(try await home.photos(at: home.vacations).isEmpty)
        let share = try await home.share()
        #expect(forecast.photoCount == 1 && share.photoCount == 1)
        #expect(forecast.skipped.map(\.path) == [home.photo(0).string])
        #expect(forecast.skipped.map(\.reason) == share.skipped.map(\.reason))
    }

    @Test func `of a folder that nobody has seen, the numbers of a dry run and an export are those of the share`()
        async throws
    {
        let home = try AgentHome()
        // By their names, the last would be the first.
        for (number, taken) in [(0, 9), (1, 8), (2, 1)] { try home.photo(number).create(SamplePhoto.taken(taken)) }
        let forecast = try await home.run("share", "--dry-run", AgentHome.trip)
        let page = home.tree.path("page")
        #expect(try await home.run("share", "--export", page.string, "--photos", "0", AgentHome.trip).code == 0)
        #expect(try await home.photos(at: home.vacations).isEmpty)
        let share = try await home.share(AgentHome.trip, "--photos", "0")
        #expect(try await times(home, try #require(share.shareId)).map { $0.prefix(16) } == ["2024-06-15T10:01"])
        let lines = forecast.text.split(separator: "\n").map { $0.split(separator: " ") }
        let first = try #require(lines.first { $0.first == "0" })
        #expect(first.contains { $0.hasSuffix("2.jpg") }, "\(forecast.text)")
    }

    @Test func `a share that no longer shows its folder is told, with the number of photos; its vacation is changed`()
        async throws
    {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        _ = try await home.share()
        var shares: ChangedShares = try await decoded(home, "shares", "--json")
        #expect(shares.shares.map(\.changedBy) == [0])
        try edit(home)
        // Nobody has looked there since.
        shares = try await decoded(home, "shares", "--json")
        #expect(shares.shares.map(\.changedBy) == [3] && shares.shares.map(\.state) == ["live"])
        #expect(try await said(home, "shares").contains("3 photos differ (1 new, 1 changed, 1 gone)"))
        _ = try await home.pass()
        let status: VacationList = try await decoded(home, "status", "--json")
        #expect(status.vacations.map(\.state) == ["changed"] && status.vacations.map(\.shareChangedBy) == [3])
        #expect(try await home.run("status").text.contains("changed since shared: 3"))
    }

    @Test func `with an agent at work, its look is waited for`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        let id = try #require(try await home.share().shareId)
        let agent = try await home.startAgent()
        try edit(home)
        #expect(try await home.share().photoCount == 3)
        #expect(try await times(home, id).map { $0.prefix(16) }.contains("2024-06-15T10:00") == false)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test
    func `of a folder that lost photos it is said how many are left out, and of an empty one that the store has them`()
        async throws
    {
        let home = try AgentHome()
        // An empty folder of vacations would pass for a drive that is not mounted.
        try home.vacations.appending("Zoo_2024-05-01").appending("0.jpg").create(SamplePhoto.taken(50))
        try await home.takeTrip(photos: 3)
        let folder = home.vacations.appending(AgentHome.trip)
        #expect(try await home.share("--dry-run", AgentHome.trip).notes == [])
        try home.photo(0).remove()
        let some = "Gone from \(folder), and not shared: 1 photo."
        #expect(try await home.share("--dry-run", AgentHome.trip).notes == [some])
        #expect(try await said(home, "share", "--yes", AgentHome.trip).squeezed.contains(some.squeezed))
        for number in 1...2 { try home.photo(number).remove() }
        let all = "No photo is left in \(folder). Shared is what the store has of those that were there: 2 photos."
        for option in ["--dry-run", "--yes"] {
            let answer = try await home.share(AgentHome.trip, option)
            #expect(answer.notes == [all] && answer.photoCount == 2)
        }
        #expect(try await said(home, "share", "--dry-run", AgentHome.trip).squeezed.contains(all.squeezed))
        #expect(try await said(home, "share", "--yes", AgentHome.trip).squeezed.contains(all.squeezed))
    }

    @Test func `whoever says no at the question leaves nothing behind: no name, no share, no object, no restore`()
        async throws
    {
        let home = try AgentHome(more: AgentHome.archivesAtOnce)
        try home.vacations.appending("Zoo_2024-05-01").appending("0.jpg").create(SamplePhoto.taken(50))
        try await home.takeTrip(photos: 2)
        let before = try home.store.objects().map(\.key)
        let ways: [(arguments: [String], typing: String)] = [
            (["--from", "Bo"], "n\n"), ([], "Cleo\nn\n"), (["--from", "Dora", "--json"], "no\n"),
            (["--from", "Eve"], "\n"),
            (["--to", "bo@example.org", "--via", "email", "--from", "Fay"], "n\n"),
        ]
        for (arguments, typing) in ways {
            let finished = try await home.runAtTerminal(["share", AgentHome.trip] + arguments, typing: typing)
            #expect(finished.code == 1 && finished.complaint.contains("nothing was shared"), "\(finished)")
            #expect(try await home.shares().isEmpty)
            #expect(try home.store.objects().map(\.key) == before)
        }
        // Also of what would have to come back from the archive first.
        try FileManager.default.removeItem(atPath: home.vacations.appending(AgentHome.trip).string)
        _ = try await home.pass()
        let finished = try await home.runAtTerminal(["share", AgentHome.trip, "--from", "Bo"], typing: "n\n")
        #expect(finished.code == 1, "\(finished)")
        #expect(try await home.restores().isEmpty)
        #expect(try await home.shares().isEmpty)
        // No name was remembered: the next share has none.
        _ = try await home.run("share", "Zoo_2024-05-01", "--yes")
        let share = try #require(try await home.shares().first)
        let manifest = try await StoredBytes.folder(home.store).of("shares/\(share.shareId)/vacation.json")
        let text = String(decoding: manifest, as: UTF8.self)
        for name in ["Bo", "Cleo", "Dora", "Eve", "Fay"] { #expect(!text.contains(#""\#(name)""#)) }
    }

    @Test func `restore takes the words that share takes`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 2)
        for word in ["Paris France", "paris france", AgentHome.trip, AgentHome.trip.lowercased()] {
            #expect(try await home.share("--dry-run", word).photoCount == 2)
            let finished = try await home.run("restore", "--estimate", "--json", word)
            #expect(finished.code == 0, "\(word): \(finished.complaint)")
        }
    }

    @Test func `a restore that ends after the share would is not asked for`() async throws {
        // As long as the slowest store: 12 hours.
        let home = try AgentHome(restoring: 43_200, more: AgentHome.archivesAtOnce)
        // An empty folder of vacations would pass for a drive that is not mounted.
        try home.vacations.appending("Zoo_2024-05-01").appending("0.jpg").create(SamplePhoto.taken(50))
        try await home.takeTrip(photos: 2)
        try FileManager.default.removeItem(atPath: home.vacations.appending(AgentHome.trip).string)
        _ = try await home.pass()
        let refused = try await home.run("share", "--yes", "--expires", "2h", AgentHome.trip)
        #expect(refused.code == 64 && refused.complaint.words.contains("--expires 2d"), "\(refused.complaint)")
        #expect(try await home.restores().isEmpty)
        #expect(try await home.shares().isEmpty)

        // With time enough it waits, and says who goes on; the message is kept for then.
        let waiting = try await said(
            home, "share", "--yes", "--expires", "3d", "--to", "bo@example.org", "--via", "email", AgentHome.trip)
        #expect(waiting.contains("No agent is running") && !waiting.contains("The agent publishes it"), "\(waiting)")
        #expect(try await home.shares().map(\.state) == ["waiting"])
    }

    @Test func `a password in the link of a share is not repeated, and doctor tells of links that are not encrypted`()
        async throws
    {
        let home = try AgentHome(more: "share: {public_base_url: 'http://photos.example/'}")
        let mirror = try await home.run(
            "mirror", "http://user:hunter2@127.0.0.1:1/shares/x/", home.friendsFolder("x").string)
        #expect(mirror.code == 64 && !mirror.complaint.contains("hunter2"), "\(mirror.complaint)")
        let doctor = try await home.run("doctor", "--json")
        #expect(doctor.text.contains("\"encryption\"") && doctor.text.contains("http://photos.example"))
    }
}

extension String {
    fileprivate var words: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    /// Lines are broken within a path that is longer than they are.
    fileprivate var squeezed: String { filter { !$0.isWhitespace } }
}
