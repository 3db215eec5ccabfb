import Foundation
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ChildProcessTests {
    private let pool = BlockingPool(name: "test", threads: 1)

    private func run(
        _ script: String, _ arguments: [String] = [], environment: [String: String] = [:],
        timeout: Duration = .seconds(60), outputLimit: Int = 65_536
    ) async throws -> ChildProcess.Ending {
        try await pool.runChecking { flag in
            try ChildProcess(
                words: ["/bin/sh", "-c", script, "name"] + arguments, environment: environment, timeout: timeout,
                outputLimit: outputLimit
            ).run(flag)
        }
    }

    @Test func `Both outputs come back, with the end of the program`() async throws {
        let ending = try await run("echo out; echo err >&2; exit 3")
        #expect(ending.status == .exited(3))
        #expect(ending.output == Array("out\n".utf8))
        #expect(ending.errors == Array("err\n".utf8))
        #expect(try await run("kill -TERM $$").status == .signalled(SIGTERM))
    }

    @Test func `Arguments and environment arrive as they are, and nothing comes from stdin`() async throws {
        let ending = try await run(
            #"printf '%s|' "$@" "$X" "$HOME"; cat"#, ["a b", "", "$X;*"],
            environment: ["X": "x y", "PATH": "/bin:/usr/bin"])
        #expect(String(decoding: ending.output, as: UTF8.self) == "a b||$X;*|x y||")
    }

    @Test func `No descriptor and no signal mask of ours is inherited`() async throws {
        // As libcurl opens its sockets: without O_CLOEXEC.
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        // The shell's own: 0 to 2, and the folder that ls reads.
        let ending = try await run(
            "ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status", environment: ["PATH": "/bin:/usr/bin"])
        #expect(String(decoding: ending.output, as: UTF8.self) == "4\nSigBlk:\t0000000000000000\n")
    }

    @Test func `A program that does not end in time is an error`() async {
        let error = await #expect(throws: ChildProcess.Failure.self) {
            try await run("exec sleep 60", environment: ["PATH": "/bin:/usr/bin"], timeout: .milliseconds(100))
        }
        #expect(error == .tooSlow)
    }

    @Test func `A child that keeps the pipes is not waited for`() async throws {
        let tree = try TemporaryTree()
        let ending = try await run(
            "sleep 1000 & echo $! > \(tree.root)/pid; echo done", environment: ["PATH": "/bin:/usr/bin"])
        #expect(ending.output == Array("done\n".utf8))
        let pid = try #require(pid_t(String(decoding: try tree.read("pid"), as: UTF8.self).dropLast()))
        #expect(kill(pid, SIGKILL) == 0)
    }

    @Test func `Endless output ends the program; of endless errors the end is kept`() async throws {
        let path = ["PATH": "/bin:/usr/bin"]
        let error = await #expect(throws: ChildProcess.Failure.self) {
            try await run("cat /dev/zero", environment: path, outputLimit: 10_000)
        }
        #expect(error == .tooMuch)
        let ending = try await run("head -c 1000000 /dev/zero >&2; printf last >&2", environment: path)
        #expect(ending.errors.count == ChildProcess.errorLimit)
        #expect(ending.errors.suffix(4) == Array("last".utf8)[...])
    }

    @Test(arguments: ["/no/such/program", "no-such-program-anywhere", "/etc/passwd"])
    func `A program that is none is an error`(program: String) async {
        let error = await #expect(throws: ChildProcess.Failure.self) {
            try await pool.runChecking { flag in
                try ChildProcess(words: [program], environment: [:], timeout: .seconds(60), outputLimit: 1).run(flag)
            }
        }
        #expect(error == .notStarted(program == "/etc/passwd" ? .permissionDenied : .noSuchFileOrDirectory))
    }

    @Test func `A cancelled task takes its program with it, and that one's children`() async throws {
        let tree = try TemporaryTree()
        let fifo = tree.path("fifo")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        let pool = pool
        let task = Task {
            try await pool.runChecking { flag in
                let script = "exec 3>\(fifo); (sleep 60; echo survived >&3) & echo $$ >&3; wait"
                return try ChildProcess(
                    words: ["/bin/sh", "-c", script], environment: ["PATH": "/bin:/usr/bin"], timeout: .seconds(600),
                    outputLimit: 1
                ).run(flag)
            }
        }
        let reading = BlockingPool(name: "fifo", threads: 1)
        let reader = try await reading.run { try FileDescriptor.open(fifo, .readOnly) }
        let pid = try #require(pid_t(try await reading.run { try Self.text(reader) }.dropLast()))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        // The end of the FIFO comes when the last of them is gone.
        #expect(try await reading.run { try Self.text(reader) } == "")
        try reader.close()
    }

    private static func text(_ file: FileDescriptor) throws -> String {
        try String(unsafeUninitializedCapacity: 64) { try file.read(into: UnsafeMutableRawBufferPointer($0)) }
    }

    @Test func `Programs leave no descriptor behind`() async throws {
        // In a process of its own: other suites open and close descriptors meanwhile.
        await #expect(processExitsWith: .success) {
            let pool = BlockingPool(name: "programs", threads: 1)
            func run(_ times: Int) async throws -> Int {
                try await pool.runChecking { flag in
                    for _ in 0..<times {
                        _ = try ChildProcess(
                            words: ["/bin/true"], environment: [:], timeout: .seconds(60), outputLimit: 1
                        ).run(flag)
                    }
                }
                return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            let first = try await run(1)
            let last = try await run(50)
            #expect(last == first)
        }
    }
}
