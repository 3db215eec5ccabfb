/// What of the agent's environment a program for notices gets: where it finds its files, its language and the desktop.
/// Credentials are in the rest, and in names that nobody can foresee, so that what is passed on is listed.
enum NoticeEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY",
        "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYNC_AGENT_CONFIG",
    ]
    private static let prefixes = ["LC_", "XDG_"]

    static func passed(on environment: [String: String]) -> [String: String] {
        environment.filter { name, _ in names.contains(name) || prefixes.contains(where: name.hasPrefix) }
    }
}
