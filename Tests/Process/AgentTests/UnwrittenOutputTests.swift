import SyncTestSupport
import SystemPackage
import Testing

/// Scripts read the exit code: a command whose words got nowhere has not done what it was called for.
struct UnwrittenOutputTests {
    /// Runs a command whose standard output is on a disk that is full (full(4)).
    private func run(_ home: AgentHome, _ words: [String]) async throws -> Finished {
        try await ChildProcess(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" >/dev/full", AgentBinary.path.string] + words,
            environment: home.environment
        ).finished()
    }

    @Test(arguments: [
        ["status"], ["status", "--json"], ["status", "--check"], ["shares"], ["verify"], ["config", "reference"],
        ["--help"], ["help", "sync"], ["--version"], ["--generate-completion-script", "bash"],
    ])
    func `an answer that cannot be written is a failure`(words: [String]) async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let heard = try await home.start(words).finished()
        #expect(heard.code == 0, "\(heard)")
        let unheard = try await run(home, words)
        #expect(unheard.code == 1, "\(unheard)")
        #expect(unheard.complaint.hasSuffix("the output could not be written: no space left on device\n"))
    }

    @Test func `what a command has done stays done, and its own failure wins`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(0))
        #expect(try await run(home, ["sync"]).code == 1)
        #expect(try await home.overview().totals.uploaded == 1)
        #expect(try await run(home, ["status", home.tree.path("nowhere").string]).code == 66)
        #expect(try await run(home, ["--nothing"]).code == 64)
        try home.gallery.appending("b.jpg").create(Array("no photo".utf8))
        #expect(try await home.run("sync").code == 3)
        try home.gallery.appending("c.jpg").create(Array("no photo either".utf8))
        let unheard = try await run(home, ["sync"])
        #expect(unheard.code == 3 && unheard.complaint.contains("could not be written"), "\(unheard)")
    }
}
