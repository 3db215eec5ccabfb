import FoundationEssentials
import Glibc
package import SyncCore

extension MachineZone {
    /// That of this machine: `TZ`, else `/etc/localtime`, with its summer times (mktime(3), localtime_r(3)).
    package static let current = MachineZone(
        atClock: { clock in
            var seconds = time_t(clock)
            var parts = tm()
            // The fields of the clock; mktime(3) then finds out what its offset was.
            gmtime_r(&seconds, &parts)
            parts.tm_isdst = -1
            _ = mktime(&parts)
            return parts.tm_gmtoff / 60
        },
        atInstant: { instant in
            var seconds = time_t(instant.timeIntervalSince1970.rounded(.down))
            var parts = tm()
            // localtime_r(3) need not read TZ; mktime(3) above does, and so does this.
            tzset()
            localtime_r(&seconds, &parts)
            return parts.tm_gmtoff / 60
        })
}
