import FoundationEssentials
import Glibc
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct MirrorWatchTests {
    /// Runs a watch, and changes the share before each look but the first.
    /// - Returns: what each look came to.
    private func watch(
        _ trip: SharedTrip, _ changes: [@Sendable (SharedTrip) -> Void]
    ) async throws -> [String] {
        let time = ManualTime(start: SharedTrip.now)
        let outcomes = Lock<[String]>([])
        let watch = MirrorWatch(try trip.mirror(trip.link("vacation.json"), time: time.source), time: time.source)
        let task = Task {
            try await watch.run { outcome in
                outcomes.withLock { outcomes in
                    switch outcome {
                    case .success(let result):
                        let state = result.end == nil ? result.notes.isEmpty ? "lives" : "doubtful" : "ended"
                        outcomes.append("\(result.downloaded.count) \(state)")
                    case .failure: outcomes.append("failed")
                    }
                }
            }
        }
        for change in changes {
            await time.waitForSleepers()
            change(trip)
            await time.advance(by: .seconds(300))
        }
        try await task.value
        return outcomes.withLock { $0 }
    }

    private static let manifest = SharedTrip.folder + "vacation.json"

    @Test func `A watch follows the share until it ends`() async throws {
        try await SharedTrip.run { trip in
            let outcomes = try await watch(
                trip,
                [
                    { $0.publish($0.photos(5)) }, { $0[Self.manifest] = WebServer.Answer("not yet") },
                    { $0[Self.manifest] = nil }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "1 lives", "failed", "0 doubtful", "0 ended"])
        }
    }

    @Test func `A folder that is another one by now is not filled again, and what is back goes on`() async throws {
        try await SharedTrip.run { trip in
            let away = trip.tree.path("away")
            let outcomes = try await watch(
                trip,
                [
                    { rename($0.destination.string, away.string) },
                    { mkdir($0.destination.string, 0o700) },
                    {
                        rmdir($0.destination.string)
                        rename(away.string, $0.destination.string)
                        $0.publish($0.photos(5))
                    },
                    { $0[Self.manifest] = nil }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "failed", "failed", "1 lives", "0 doubtful", "0 ended"])
        }
    }

    @Test func `A folder that could not be told what it is, is known by itself`() async throws {
        try await SharedTrip.run { trip in
            let away = trip.tree.path("away")
            // Where the hidden file grows there is a folder already.
            let obstacle = "home/paris/..sync-agent-mirror.json.sync-agent-part"
            try trip.tree.makeFolder(obstacle)
            let outcomes = try await watch(
                trip,
                [
                    {
                        rename($0.destination.string, away.string)
                        mkdir($0.destination.string, 0o700)
                    },
                    {
                        rmdir($0.destination.string)
                        rename(away.string, $0.destination.string)
                        rmdir($0.tree.path(obstacle).string)
                        unlink($0.destination.appending("vacation.json").string)
                        $0.publish($0.photos(5))
                    },
                    { $0[Self.manifest] = nil }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "failed", "1 lives", "0 doubtful", "0 ended"])
        }
    }

    @Test func `What was fetched is known by the watch, also where the hidden file cannot be written`() async throws {
        try await SharedTrip.run { trip in
            let away = trip.tree.path("away")
            // Where the hidden file grows there is a folder already.
            try trip.tree.makeFolder("home/paris/..sync-agent-mirror.json.sync-agent-part")
            let outcomes = try await watch(
                trip,
                [
                    { unlink($0.destination.appending(ShareMirrorTests.names[0]).string) },
                    { rename($0.destination.string, away.string) },
                    { rename(away.string, $0.destination.string) },
                    { $0[Self.manifest] = nil }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "0 lives", "failed", "0 lives", "0 doubtful", "0 ended"])
        }
    }

    @Test func `A folder with nothing written down is known by its manifest when it is mounted anew`() async throws {
        try await SharedTrip.run { trip in
            let away = trip.tree.path("away")
            try trip.tree.makeFolder("home/paris/..sync-agent-mirror.json.sync-agent-part")
            let outcomes = try await watch(
                trip,
                [
                    { rename($0.destination.string, away.string) },
                    { trip in
                        mkdir(trip.destination.string, 0o700)
                        // As on another device: the folder is another one. One photo stays away.
                        for name in ShareMirrorTests.names.dropFirst() + ["vacation.json"] {
                            rename(away.appending(name).string, trip.destination.appending(name).string)
                        }
                        mkdir(trip.destination.appending("..sync-agent-mirror.json.sync-agent-part").string, 0o700)
                    },
                    { $0[Self.manifest] = nil }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "failed", "0 lives", "0 doubtful", "0 ended"])
        }
    }

    @Test func `Of a share that may have ended nothing is told as missing before it is sure`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror(trip.link("vacation.json")).run()
            unlink(trip.destination.appending(ShareMirrorTests.names[0]).string)
            trip[Self.manifest] = nil
            let time = ManualTime(start: SharedTrip.now)
            let kept = Lock<[[String]]>([])
            let watch = MirrorWatch(try trip.mirror(trip.link("vacation.json"), time: time.source), time: time.source)
            let task = Task {
                try await watch.run { outcome in
                    kept.withLock { $0.append((try? outcome.get().kept.map(\.name)) ?? ["failed"]) }
                }
            }
            await time.waitForSleepers()
            await time.advance(by: .seconds(300))
            try await task.value
            #expect(kept.withLock { $0 } == [[], [ShareMirrorTests.names[0]]])
        }
    }

    @Test func `A share that has ended ends the watch, though its folder is lost`() async throws {
        try await SharedTrip.run { trip in
            let error = await #expect(throws: StoreError.self) {
                try await watch(
                    trip,
                    [
                        {
                            rename($0.destination.string, $0.tree.path("away").string)
                            $0[Self.manifest] = nil
                        }, { _ in },
                    ])
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `A share that has ended by the clock once has not ended`() async throws {
        let over = ["2026-02-01T00:00:00Z": "2025-12-31T00:00:00Z"]
        try await SharedTrip.run { trip in
            let outcomes = try await watch(
                trip,
                [
                    { $0.publish($0.photos(4), changes: over) }, { $0.publish($0.photos(5)) },
                    { $0.publish($0.photos(5), changes: over) }, { _ in },
                ])
            #expect(outcomes == ["4 lives", "0 doubtful", "1 lives", "0 doubtful", "0 ended"])
        }
    }

    @Test func `A share that cannot be read once has not ended`() async throws {
        try await SharedTrip.run { trip in
            let outcomes = try await watch(
                trip,
                [
                    { $0[Self.manifest] = WebServer.Answer("blocked", status: 403) },
                    { $0.publish($0.photos(5)) },
                    { $0[Self.manifest] = WebServer.Answer("blocked", status: 403) },
                    { $0[Self.manifest] = WebServer.Answer("away", status: 401) },
                    { $0[Self.manifest] = WebServer.Answer("revoked", status: 403) }, { _ in },
                ])
            #expect(
                outcomes == ["4 lives", "0 doubtful", "1 lives", "0 doubtful", "failed", "0 doubtful", "0 ended"])
        }
    }
}
