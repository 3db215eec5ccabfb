import Glibc
import SystemPackage

/// Tells when something was mounted or unmounted. `/proc/self/mountinfo` is to be polled for POLLPRI: the kernel reports
/// each change since the poll before (proc(5)).
final class MountEvents {
    let descriptor: Int32

    /// `nil` where the system has no such file: then nothing is ever told.
    init?() {
        descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
