import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// The agent ends in the middle of a file of gallery events: no photo of it is lost, and none is sent twice.
@Suite(.serialized) struct EventFileKillTests {
    /// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
    private static let rounds: Int = Dice.number("SYNC_AGENT_KILL_ROUNDS") ?? 10
    private static let photos = 60

    /// After how many stored photos each round kills.
    private static let plan: [Int] = {
        var dice = Dice("SYNC_AGENT_KILL_SEED")
        print(
            "event file kills: SYNC_AGENT_KILL_SEED=\(dice.seed) SYNC_AGENT_KILL_ROUNDS=\(rounds) repeats these rounds")
        return (0..<rounds).map { _ in Int.random(in: 0..<photos * 2 / 3, using: &dice) }
    }()

    private let home: AgentHome
    private let file: FilePath

    init() throws {
        home = try AgentHome()
        file = home.gallery.appending("june.json")
        // Of today: what a cleanup does with older ones is not looked at here.
        let day = Int(Date().timeIntervalSince1970)
        let events = try (0..<Self.photos).map { number in
            let data = Data(try SamplePhoto.unique(number)).base64EncodedString()
            return #"{"id":"e\#(number)","profileId":"p","eventType":"taskResponse","createdAt":\#(day),"#
                + #""text":"PLANTED words","photoData":"\#(data)"}"#
        }
        try file.create(Array("[\(events.joined(separator: ",\n"))]".utf8))
    }

    /// The records of objects, by the inodes of their files: a record that is written again has another one.
    private func records() throws -> [FilePath: UInt] {
        try home.store.recordPaths().reduce(into: [:]) { records, path in
            var status = stat()
            if stat(path.string, &status) == 0 { records[path] = UInt(status.st_ino) }
        }
    }

    private func ended(by signal: Int32, afterPhotos count: Int) async throws -> Finished {
        let agent = try home.start(["run"])
        try await eventually("\(count) photos in the store") {
            try home.store.recordPaths().count >= count ? () : nil
        }
        agent.send(signal)
        return try await agent.finished()
    }

    /// Runs a pass, and looks whether it has done what was left and nothing else.
    private func expectRest() async throws {
        let before = try records()
        let known = Set(try home.store.objects().map(\.key))
        let answer = try await home.pass()
        let objects = try home.store.objects()
        #expect(objects.count == Self.photos)
        #expect(try home.store.isSound())
        let after = try records()
        #expect(before.allSatisfy { after[$0.key] == $0.value })
        #expect(answer.bytesSent == objects.filter { !known.contains($0.key) }.reduce(0) { $0 + $1.size })
        let entry = try #require(try await home.photo(file))
        #expect(entry.state == "uploaded")
        #expect(entry.note == "\(Self.photos) events, \(Self.photos) photos stored")
        #expect(try await home.pass().bytesSent == 0)
    }

    @Test("a kill in the middle of a file of events loses no photo and sends none twice", arguments: plan)
    func killed(after count: Int) async throws {
        #expect(try await ended(by: SIGKILL, afterPhotos: count).ending == .signal(SIGKILL))
        try await expectRest()
    }

    @Test("a signal in the middle of a file of events leaves the rest to the next pass", arguments: [SIGTERM, SIGINT])
    func stopped(by signal: Int32) async throws {
        #expect(try await ended(by: signal, afterPhotos: 3).code == 0)
        #expect(try home.store.objects().count < Self.photos)
        let entry = try #require(try await home.photo(file))
        #expect(entry.state == "pending")
        #expect(entry.error == nil)
        try await expectRest()
    }
}
