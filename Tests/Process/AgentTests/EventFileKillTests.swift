import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// The agent ends in the middle of a file of gallery events: no photo of it is lost, and none is sent twice.
struct EventFileKillTests {
    /// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
    private static let rounds: Int = Dice.number("SYNC_AGENT_KILL_ROUNDS") ?? 10
    private static let photos = 120

    /// After how many stored photos each round kills.
    private static let plan: [Int] = {
        var dice = Dice("SYNC_AGENT_KILL_SEED")
        print(
            "event file kills: SYNC_AGENT_KILL_SEED=\(dice.seed) SYNC_AGENT_KILL_ROUNDS=\(rounds) repeats these rounds")
        return (0..<rounds).map { _ in Int.random(in: 0..<photos / 3, using: &dice) }
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

    private func start(
        untilPhotos count: Int, environment: [String: String] = [:]
    ) async throws -> ChildProcess {
        let agent = try home.start(["run"], environment: environment)
        try await eventually("\(count) photos in the store") {
            try home.store.recordPaths().count >= count ? () : nil
        }
        return agent
    }

    /// Holds all photos up but the first `count`, so that the agent is in the middle of the file however slowly a busy
    /// machine lets the test see it.
    private func hold(allBut count: Int) throws -> [HeldObject] {
        try home.tree.makeFolder("store/locks")
        let locks = try (0..<Self.photos).map { number in
            home.store.lock(of: "users/ana/photos/\(ContentDigest(of: try SamplePhoto.unique(number)).md5).dat")
        }
        let (early, late) = (Set(locks.prefix(count)), locks.dropFirst(count))
        return try Set(late).subtracting(early).sorted {
            (late.firstIndex(of: $0) ?? 0) < (late.firstIndex(of: $1) ?? 0)
        }
        .map { try HeldObject(lock: $0) }
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

    @Test(arguments: plan)
    func `a kill in the middle of a file of events loses no photo and sends none twice`(after count: Int) async throws {
        let agent = try await start(untilPhotos: count)
        agent.send(SIGKILL)
        #expect(try await agent.finished().ending == .signal(SIGKILL))
        try await expectRest()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal in the middle of a file of events leaves the rest to the next pass`(by signal: Int32) async throws {
        let early = Self.photos / 4
        let held = try hold(allBut: early)
        let address = home.tree.path("notify").string
        let manager = try NotifySocket(address)
        let agent = try await start(untilPhotos: early, environment: ["NOTIFY_SOCKET": address])
        agent.send(signal)
        try await manager.received("STOPPING=1")
        // As many as are in flight, which the store may put together, and perhaps some more until all of the agent has
        // heard of it.
        for first in stride(from: 0, to: held.count, by: AgentHome.batchSize) where !agent.progress.value.isOver {
            let before = try home.store.recordPaths().count
            for object in held[first..<min(first + AgentHome.batchSize, held.count)] { object.release() }
            try await eventually("a photo more, or the end") {
                try agent.progress.value.isOver || home.store.recordPaths().count > before ? () : nil
            }
        }
        #expect(try await agent.finished().code == 0)
        for object in held { object.release() }
        #expect(try home.store.objects().count < Self.photos)
        let entry = try #require(try await home.photo(file))
        #expect(entry.state == "pending")
        #expect(entry.error == nil)
        try await expectRest()
    }
}
