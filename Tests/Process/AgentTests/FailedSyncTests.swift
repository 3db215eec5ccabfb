import SyncTestSupport
import SystemPackage
import Testing

/// After an fsync(2) that has failed, the kernel takes the lost bytes for written, and the next one says nothing.
@Suite(.enabled(if: !Tool.strace.isMissing, "needs strace")) struct FailedSyncTests {
    @Test func `a download that could not be synced begins anew, and is not gone on from`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 2)
        let id = try #require(try await home.share().shareId)
        _ = try await home.mirror(id, to: "whole")
        let name = try #require(try home.mirrorFiles("whole").first { $0.hasSuffix(".jpg") })
        let folder = home.friendsFolder("trip")
        let part = folder.appending(".\(name).sync-agent-part")
        let options = [
            "-f", "-qq", "-P", part.string, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1", "-o",
            home.tree.path("trace").string, "--", AgentBinary.path.string, "mirror", id, folder.string,
        ]
        let failed = try await ChildProcess(
            FilePath(Tool.strace.rawValue), options, environment: home.environment
        ).finished()
        #expect(failed.code != 0)
        #expect(try home.mirrorFiles("trip").allSatisfy { !$0.hasSuffix(".sync-agent-part") })
        #expect(try !home.mirrorFiles("trip").contains(name))
        #expect(try await home.mirror(id, to: "trip").downloaded >= 1)
        #expect(try home.mirrored("trip").keys.sorted() == (try home.mirrored("whole").keys.sorted()))
    }
}
