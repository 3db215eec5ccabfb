import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// `sync-agent-decoder` by itself, as `doctor` and a person at a shell start it.
@Suite struct DecoderSandboxTests {
    private func decoder(_ words: String...) async throws -> Finished {
        let path = AgentBinary.path.removingLastComponent().appending("sync-agent-decoder")
        return try await ChildProcess(path, words, environment: [:]).finished()
    }

    @Test func `what a decoder does not need is refused, each in a sandbox of its own`() async throws {
        let tried = try await decoder("--self-test")
        let trials = [
            "open a file", "make a file", "open a socket", "make a socket pair", "send a signal", "start a process",
            "start a program", "make code", "take more memory",
        ]
        #expect(tried.text.split(separator: "\n") == trials.map { "\($0): refused" })
        #expect(tried.code == 0)
    }

    private struct Check: Decodable {
        let seccomp: Bool
        let libraries: [String: String]
    }

    @Test func `the check names each library with its version`() async throws {
        let checked = try await decoder("--check")
        #expect(checked.code == 0, "\(checked.complaint)")
        let check = try JSONDecoder().decode(Check.self, from: Data(checked.text.utf8))
        #expect(check.seccomp)
        let names = ["dav1d", "giflib", "libde265", "libheif", "libjxl", "libpng", "libraw", "libtiff", "libwebp"]
        #expect(check.libraries.keys.sorted() == names)
        #expect(check.libraries.values.allSatisfy { $0.first?.isNumber == true })
    }

    @Test(arguments: [["--version"], ["--check", "--self-test"], ["picture.heic"]])
    func `it is no command for people`(words: [String]) async throws {
        let path = AgentBinary.path.removingLastComponent().appending("sync-agent-decoder")
        let finished = try await ChildProcess(path, words, environment: [:]).finished()
        #expect(finished.code == 64)
        #expect(finished.text.isEmpty && finished.complaint.contains("started by sync-agent"))
    }
}
