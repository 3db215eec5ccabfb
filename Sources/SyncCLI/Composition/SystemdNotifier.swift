import Glibc

/// Tells systemd how the service is doing: one datagram each to the socket named by `NOTIFY_SOCKET` (sd_notify(3)).
/// Without that variable it does nothing.
struct SystemdNotifier: Sendable {
    private let address: String?

    init(environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"]
    }

    func ready(status: String) { send("READY=1\nSTATUS=\(status)") }
    func stopping() { send("STOPPING=1") }

    /// Best effort: a service manager that does not listen is no reason to stop working.
    private func send(_ text: String) {
        guard let address, let first = address.utf8.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return }
        var name = Array(address.utf8)
        // A leading @ stands for the NUL byte of Linux's abstract name space (unix(7)).
        if first == UInt8(ascii: "@") { name[0] = 0 }
        var target = sockaddr_un()
        guard name.count < MemoryLayout.size(ofValue: target.sun_path) else { return }
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)

        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                text.withCString { sendto(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL), address, length) }
            }
        }
    }
}
