import SyncTestSupport
import SystemPackage
import Testing

/// A process may have no descriptor left, or the machine none.
@Suite(.enabled(if: !Tool.strace.isMissing, "needs strace")) struct DescriptorTests {
    /// libcurl makes its handle all the same, and nobody could wake the thread that waits with it.
    @Test func `where there is none for the thread of requests, a command says so and ends`() async throws {
        let home = try AgentHome()
        let link = "http://127.0.0.1:9/shares/7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10/"
        let options = [
            "-f", "-qq", "-e", "trace=socketpair", "-e", "inject=socketpair:error=EMFILE:when=1", "-o",
            home.tree.path("trace").string, "--", AgentBinary.path.string, "mirror", link,
            home.friendsFolder("trip").string,
        ]
        let ended = try await ChildProcess(
            FilePath(Tool.strace.rawValue), options, environment: home.environment
        ).finished()
        let told = String(decoding: ended.errors, as: UTF8.self)
        #expect(ended.code == 1 && told.contains("file descriptors are short"), "\(ended.code ?? -1): \(told)")
    }
}
