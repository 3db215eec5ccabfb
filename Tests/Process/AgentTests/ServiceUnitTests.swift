import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// The units of systemd that come with the program, and what starts it in a container.
struct ServiceUnitTests {
    private static let examples = FilePath(#filePath).removingLastComponent().pushing("../../../examples")
        .lexicallyNormalized()

    @Test(arguments: ["sync-agent.service", "sync-agent@.service"])
    func `an agent gets all the time that it needs until it watches every folder`(name: String) throws {
        let text = String(decoding: try Self.examples.pushing(FilePath(name)).bytes, as: UTF8.self)
        let lines = text.split(separator: "\n")
        // Of a unit that tells when it is ready, systemd would wait for 90 seconds.
        #expect(lines.contains("Type=notify") && lines.contains("TimeoutStartSec=infinity"))
    }

    @Test(arguments: ["sync-agent.service", "sync-agent@.service", "container/sync-agent.container"])
    func `no unit starts an agent again that would end the same way`(name: String) throws {
        let text = String(decoding: try Self.examples.pushing(FilePath(name)).bytes, as: UTF8.self)
        #expect(text.split(separator: "\n").contains("RestartPreventExitStatus=64 75 77 78"))
    }

    @Test func `Docker starts the agent again with the machine, and by the command that knows exit codes`() throws {
        let file = Self.examples.pushing("container/compose.yaml")
        let lines = String(decoding: try file.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("    restart: unless-stopped") && lines.contains("    command: [service]"))
    }

    /// The first program of the container, as somebody who is not root.
    private func service(_ agent: String, in tree: TemporaryTree) throws -> ChildProcess {
        try tree.writeProgram("#!/bin/sh\n\(agent)\n", to: "bin/sync-agent")
        try tree.writeProgram("#!/bin/sh\necho 1000\n", to: "bin/id")
        let entry = Self.examples.pushing("container/sync-agent-entry")
        return try ChildProcess(
            "/bin/sh", [entry.string, "service"], environment: ["PATH": "\(tree.path("bin")):/usr/bin:/bin"])
    }

    @Test(arguments: [64, 75, 77, 78] as [Int32])
    func `a container whose agent would end the same way stays until it is stopped, and says why`(code: Int32)
        async throws
    {
        let tree = try TemporaryTree()
        let container = try service("exit \(code)", in: tree)
        let line = try await container.progress.wait(for: "the words of the entry") { $0.errorLines.first }
        #expect(line.contains("ended with \(code)"))
        #expect(container.progress.value.ending == nil)
        container.send(SIGTERM)
        #expect(try await container.finished().code == code)
    }

    @Test(arguments: [0, 1, 69] as [Int32])
    func `a container whose agent may do better next time ends with it`(code: Int32) async throws {
        let tree = try TemporaryTree()
        #expect(try await service("exit \(code)", in: tree).finished().code == code)
    }

    @Test func `a container that is stopped waits for its agent`() async throws {
        let tree = try TemporaryTree()
        // What is not `sleep` yet may miss every other signal, and must not keep the pipes open as it sleeps on.
        let agent = """
            trap 'kill -KILL $!; echo stopping; exit 0' TERM; sleep 600 > /dev/null 2>&1 & echo ready; wait
            """
        let container = try service(agent, in: tree)
        _ = try await container.progress.wait(for: "the agent") { $0.outputLines.first }
        container.send(SIGTERM)
        let finished = try await container.finished()
        #expect(finished.code == 0 && finished.text == "ready\nstopping\n")
    }
}
