import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct DesktopNotifierTests {
    private let tree: TemporaryTree
    private let pool = BlockingPool(name: "test", threads: 1)

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `Without a desktop, or without the tool, there is none`() throws {
        try tree.makeFolder("empty")
        #expect(symlink("/bin/echo", tree.path("notify-send").string) == 0)
        #expect(DesktopNotifier(environment: ["PATH": tree.root.string, "DISPLAY": ""], pool: pool) == nil)
        #expect(DesktopNotifier(environment: ["PATH": tree.path("empty").string, "DISPLAY": ":0"], pool: pool) == nil)
        #expect(DesktopNotifier(environment: ["PATH": ".:empty", "WAYLAND_DISPLAY": "wayland-0"], pool: pool) == nil)
        #expect(
            DesktopNotifier(environment: ["PATH": "/no:\(tree.root)", "DBUS_SESSION_BUS_ADDRESS": "unix:"], pool: pool)
                != nil)
    }

    @Test func `Nothing in a notice is an option, markup or an escape`() {
        #expect(
            DesktopNotifier.arguments(for: .hostile) == [
                "--app-name=sync-agent", "--", "--help $(touch pwned)",
                #"`id`; 'a' "b" \\n &lt;img src="http://evil"&gt; &amp; $HOME\\u{a}second line"#,
            ])
    }

    @Test func `A mark that combines with a bracket makes no markup of it`() {
        var notice = Notice.hostile
        notice.message = "<\u{301}b>bold<\u{338}/b>\u{20DD} &\u{301}amp; \\\u{301}n"
        let body = DesktopNotifier.arguments(for: notice).last ?? ""
        #expect(!body.unicodeScalars.contains("<") && !body.unicodeScalars.contains(">"))
        let expected = "&lt;\u{301}b&gt;bold&lt;\u{338}/b&gt;\u{20DD} &amp;\u{301}amp; \\\\\u{301}n"
        #expect(body.unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test func `A tool that fails is told`() async throws {
        #expect(symlink("/bin/false", tree.path("notify-send").string) == 0)
        let notifier = try #require(
            DesktopNotifier(environment: ["PATH": tree.root.string, "DISPLAY": ":0"], pool: pool))
        let error = await #expect(throws: NoticeFailure.self) { try await notifier.deliver(.hostile) }
        #expect(
            error?.description == "the desktop (\(tree.path("notify-send"))) exited with 1; run it by hand to see why")
    }
}
