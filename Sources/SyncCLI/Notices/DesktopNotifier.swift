import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// Shows a bubble on the desktop of the session that the agent runs in: org.freedesktop.Notifications, by way of
/// notify-send(1).
struct DesktopNotifier: Notifier {
    private static let sessionVariables = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"]

    private let tool: FilePath
    private let program: NoticeProgram

    /// `nil` where there is no desktop, or no notify-send on PATH.
    init?(environment: [String: String], pool: BlockingPool) {
        guard Self.sessionVariables.contains(where: { environment[$0]?.isEmpty == false }),
            let tool = Self.tool(in: environment["PATH"] ?? "")
        else { return nil }
        self.tool = tool
        program = NoticeProgram(name: "the desktop", environment: environment, pool: pool, timeout: .seconds(10))
    }

    func tell(_ notice: Notice) async throws {
        try await program.run([tool.string] + Self.arguments(for: notice))
    }

    /// After `--`, a title that begins with a dash is no option.
    static func arguments(for notice: Notice) -> [String] {
        ["--app-name=sync-agent", "--", notice.title.escapingControls, body(notice.message)]
    }

    private static func tool(in path: String) -> FilePath? {
        path.split(separator: ":").map { FilePath(String($0)).appending("notify-send") }.first { candidate in
            candidate.isAbsolute && access(candidate.string, X_OK) == 0
        }
    }

    /// A body may hold markup, with images and links (Desktop Notifications Specification, "Markup"), and notify-send
    /// decodes escapes of C in it. Scalars count here: `<` with a combining mark is a tag all the same.
    private static func body(_ message: String) -> String {
        message.escapingControls.escaping({ "&<>\\".unicodeScalars.contains($0) }) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: #"\\"#
            }
        }
    }
}
