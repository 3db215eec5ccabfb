import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// `retry`: another try for what failed or waits.
struct RetryTests {
    private struct Answer: Decodable, Equatable {
        var retried: Int
        var failed: Int
        var waiting: Int
        var agentRunning: Bool
    }

    private let home: AgentHome
    private let broken: FilePath
    private let locked: FilePath

    /// A pass that stores one photo, fails at one, and leaves one for later.
    init() async throws {
        home = try AgentHome()
        broken = home.gallery.appending("broken.jpg")
        locked = home.gallery.appending("locked.jpg")
        try home.gallery.appending("whole.jpg").create(SamplePhoto.unique(1))
        try broken.create(SamplePhoto.truncated(2))
        try locked.create(SamplePhoto.unique(3))
        try locked.setMode(0)
        #expect(try await home.runBoundByPermissions("sync").code == 3)
    }

    private func retry(_ paths: FilePath...) async throws -> Answer {
        let finished = try await home.start(["retry", "--json"] + paths.map(\.string)).finished()
        #expect(finished.code == 0)
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    @Test func `all that failed or waits is made due, and said how many`() async throws {
        #expect(try await retry() == Answer(retried: 2, failed: 1, waiting: 1, agentRunning: false))
        #expect(try await home.photo(broken)?.state == "pending")
        #expect(try await retry().retried == 0)
        let words = try await home.run("retry")
        #expect(words.code == 0 && words.text == "Nothing failed, and nothing waits for another try.\n")
    }

    @Test func `only what is named is tried again; a path of which nothing is known ends it with 66`() async throws {
        let unknown = home.gallery.appending("never.jpg")
        let finished = try await home.run("retry", broken.string, unknown.string)
        #expect(finished.code == 66)
        #expect(finished.complaint.contains("\(unknown)") && !finished.complaint.contains("\(broken)"))
        #expect(finished.text.contains("1 photo to try again (1 had failed, 0 waited)"))
        #expect(try await retry(home.gallery) == Answer(retried: 1, failed: 0, waiting: 1, agentRunning: false))
        let nothing = try await home.run("retry", unknown.string)
        #expect(nothing.code == 66 && nothing.text.isEmpty)
    }

    @Test func `a running agent takes it up by itself`() async throws {
        // The broken photo waits for a file that changes, and the agent has nothing to do.
        let agent = try await home.startAgent()
        #expect(try await retry(broken) == Answer(retried: 1, failed: 1, waiting: 0, agentRunning: true))
        try await agent.logged { $0.contains("cannot be stored: \(broken)") }
        _ = agent
    }
}
