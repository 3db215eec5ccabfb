import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// kill -9 of whoever brings photos back, at moments that can be seen from outside, on every kind of store; then
/// somebody else goes on.
struct RestoreKillTests {
    enum Worker: Sendable {
        /// The agent is killed, and a command goes on.
        case agent
        /// `restore --wait` is killed, and an agent goes on.
        case command
    }

    enum Moment: Sendable {
        /// The job is made and its requests are sent.
        case asked
        /// So many files are saved; how many are noted by then is chance.
        case saved(Int)
    }

    struct Round: Sendable, CustomTestStringConvertible {
        var place: ArchivePlace
        var worker: Worker
        var moment: Moment

        var testDescription: String { "\(place), \(worker) killed when \(moment)" }
    }

    private static let photos = 8

    static let plan: [Round] = [
        Round(place: .embedded, worker: .agent, moment: .asked),
        Round(place: .embedded, worker: .agent, moment: .saved(1)),
        Round(place: .embedded, worker: .agent, moment: .saved(photos)),
        Round(place: .embedded, worker: .command, moment: .asked),
        Round(place: .embedded, worker: .command, moment: .saved(5)),
        Round(place: .moto, worker: .agent, moment: .asked),
        Round(place: .moto, worker: .command, moment: .saved(2)),
        Round(place: .ministack, worker: .agent, moment: .saved(2)),
        Round(place: .ministack, worker: .command, moment: .asked),
    ].filter { ArchivePlace.available.contains($0.place) }

    @Test(arguments: plan)
    func `whoever goes on brings every photo, whole and once`(round: Round) async throws {
        let (home, stored) = try await round.place.makeHome(restoring: 1)
        for number in 0..<Self.photos {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let order = ["restore", "Rome", "--yes", "--output", home.tree.path("back").string]

        let killed: ChildProcess
        switch round.worker {
        case .agent:
            killed = try await home.startAgent()
            #expect(try await home.start(order).finished().code == 0)
        case .command:
            killed = try home.start(order + ["--wait"])
            try await killed.progress.wait(for: "a job") { progress in
                String(decoding: progress.output, as: UTF8.self).contains("Restore 1:") ? () : nil
            }
        }
        if case .saved(let count) = round.moment {
            _ = try await eventually("\(count) files") { try savedFiles(home).count >= count ? true : nil }
        }
        killed.send(SIGKILL)
        _ = try await killed.finished()

        switch round.worker {
        case .agent:
            _ = try await home.refreshed { $0.saved == Self.photos }
        case .command:
            let agent = try await home.startAgent()
            _ = try await home.restore { $0.saved == Self.photos }
            agent.send(SIGTERM)
            #expect(try await agent.finished().code == 0)
        }
        let jobs = try await home.restores()
        #expect(jobs.map(\.state) == ["ready"] && jobs.map(\.failed) == [0])
        // Nothing else: no part of a file is left.
        #expect(try home.tree.photos(below: "back") == (0..<Self.photos).map { "Rome/\($0).jpg" })
        for entry in try await home.photos(at: home.vacations) {
            let name = try #require(FilePath(entry.path).lastComponent?.string)
            #expect(try await home.tree.read("back/Rome/\(name)") == stored.of(#require(entry.key)))
        }
    }

    private func savedFiles(_ home: AgentHome) throws -> [String] {
        guard FileManager.default.fileExists(atPath: home.tree.path("back").string) else { return [] }
        return try home.tree.photos(below: "back").filter { !$0.hasSuffix("-part") }
    }
}
