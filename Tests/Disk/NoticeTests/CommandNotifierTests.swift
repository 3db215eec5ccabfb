import FoundationEssentials
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct CommandNotifierTests {
    private static let environment = ["PATH": "/bin:/usr/bin", "AWS_SECRET_ACCESS_KEY": "hunter2"]
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    private let pool = BlockingPool(name: "test", threads: 1)

    /// A shell script as the configured program, with arguments of its own.
    private func notifier(
        _ script: String, _ arguments: [String] = [], timeout: Duration = .seconds(600)
    ) -> CommandNotifier {
        CommandNotifier(
            words: ["/bin/sh", "-c", script, "name"] + arguments, environment: Self.environment, pool: pool,
            timeout: timeout)
    }

    @Test func `Whatever stands in a notice arrives as data`() async throws {
        let script = #"""
            cd "$1" && cat > stdin && printf '%s|' "$2" "$#" "$SYNC_AGENT_KIND" "$SYNC_AGENT_TITLE" \
                "$SYNC_AGENT_MESSAGE" "$SYNC_AGENT_JOB_ID" "$SYNC_AGENT_PATH" > variables
            """#
        try await notifier(script, [tree.root.string, "$(touch pwned) *"]).deliver(.hostile)
        let notice = Notice.hostile
        let seen = String(decoding: try tree.read("variables"), as: UTF8.self)
        #expect(
            seen == "$(touch pwned) *|2|restoreReady|\(notice.title)|\(notice.message)|7|\(notice.facts["path"] ?? "")|"
        )
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Notice.self, from: Data(try tree.read("stdin"))) == notice)
        #expect(try tree.files() == ["stdin", "variables"])
    }

    @Test func `A notice that is larger than a pipe and a variable arrives, and need not be read`() async throws {
        var notice = Notice.hostile
        notice.message = String(repeating: "0123456789", count: 100_000)
        try await notifier(#"cat > "$1"; printf %s "$SYNC_AGENT_MESSAGE" > "$1.variable""#, [tree.path("a").string])
            .deliver(notice)
        #expect(try tree.read("a").count > 1_000_000)
        #expect(try tree.read("a.variable").count == 16 << 10)
        try await notifier("exec <&-; exit 0").deliver(notice)
    }

    @Test func `The program gets no credentials, only what it needs to run`() async throws {
        let given = [
            "PATH": "/bin:/usr/bin", "HOME": "/home/ana", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "DISPLAY": ":0",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "XDG_RUNTIME_DIR": "/run/user/1000",
            "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_SESSION_TOKEN": "hunter3",
            "AWS_PROFILE": "work", "GITHUB_TOKEN": "hunter4", "https_proxy": "http://ana:hunter5@proxy",
            "LD_PRELOAD_OF_OTHERS": "1", "NOTIFY_SOCKET": "/run/systemd/notify",
        ]
        // The notice has line breaks.
        let script = #"env -0 | cut -z -d= -f1 | tr '\0' '\n' > "$1""#
        try await CommandNotifier(
            words: ["/bin/sh", "-c", script, "name", tree.path("a").string], environment: given, pool: pool
        )
        .deliver(.hostile)
        let names = String(decoding: try tree.read("a"), as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("SYNC_AGENT_") }
        // The shell itself adds the last ones.
        #expect(
            Set(names).subtracting(["PWD", "OLDPWD", "SHLVL", "_"]) == [
                "PATH", "HOME", "LANG", "LC_ALL", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR",
            ])
    }

    @Test func `A NUL does not cut a variable short`() async throws {
        var notice = Notice.hostile
        notice.title = "a\0b"
        try await notifier(#"printf %s "$SYNC_AGENT_TITLE" > "$1""#, [tree.path("a").string]).deliver(notice)
        #expect(try tree.read("a") == Array("ab".utf8))
    }

    @Test(arguments: [
        ("exit 3", "notify.command (/bin/sh) exited with 3; run it by hand to see why"),
        ("echo no such user; exit 1", "notify.command (/bin/sh) exited with 1: no such user"),
        ("echo out; echo key hunter2 >&2; exit 1", "notify.command (/bin/sh) exited with 1: key ***"),
        ("kill -KILL $$", "notify.command (/bin/sh) was ended by signal 9; run it by hand to see why"),
        ("cat /dev/zero", "notify.command (/bin/sh) printed more than 65536 bytes and was killed"),
    ])
    func `A program that fails is told with its own words, without secrets`(
        script: String, message: String
    ) async {
        let error = await #expect(throws: NoticeFailure.self) {
            try await notifier(script, ["--password", "hunter3"]).deliver(.hostile)
        }
        #expect(error?.description == message)
    }

    @Test func `A program that is not there is named`() async {
        let error = await #expect(throws: NoticeFailure.self) {
            try await CommandNotifier(words: ["/no/such/tool", "hunter3"], environment: [:], pool: pool).deliver(
                .hostile)
        }
        #expect(
            error?.description
                == "notify.command (/no/such/tool) cannot be started: no such file or directory; check its path and mode"
        )
    }

    @Test func `A program that hangs is killed, with its children`() async throws {
        let fifo = tree.path("fifo")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        // Open from the beginning, so that the shell, however late it comes, does not wait for a reader, nor the reader
        // for a shell that was killed before it came.
        let file = try FileDescriptor.open(fifo, .readOnly, options: [.nonBlocking, .closeOnExec])
        defer { try? file.close() }
        let notifier = notifier("exec 3>\(fifo); sleep 600 & sleep 600", timeout: .seconds(1))
        let error = await #expect(throws: NoticeFailure.self) { try await notifier.deliver(.hostile) }
        #expect(error?.description == "notify.command (/bin/sh) did not end within 1 seconds and was killed")
        // The end comes when the last process that has it open for writing is gone.
        #expect(fcntl(file.rawValue, F_SETFL, O_RDONLY) == 0)
        let end = try await BlockingPool(name: "fifo", threads: 1).run {
            try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try file.read(into: $0) }
        }
        #expect(end == 0)
    }
}
