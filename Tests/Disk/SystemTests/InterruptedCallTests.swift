import Glibc
import SyncSystem
import SystemPackage
import Testing

/// Calls that a signal interrupts, as flock(2) and fcntl(2) on a network file system.
@Suite struct InterruptedCallTests {
    @Test func `a call that a signal interrupts is made again`() throws {
        var reasons = [EINTR, EINTR]
        let result = try Errno.calling {
            guard let reason = reasons.popLast() else { return 7 }
            errno = reason
            return -1
        }
        #expect(result == 7)
        #expect(reasons.isEmpty)
    }

    @Test func `a call that fails for another reason is made once`() {
        var calls = 0
        #expect(throws: Errno.wouldBlock) {
            try Errno.calling {
                calls += 1
                errno = EAGAIN
                return -1
            }
        }
        #expect(calls == 1)
    }

    @Test func `what returns a pointer is called again, too`() throws {
        var reasons = [EINTR]
        let result: Int = try Errno.callingForPointer {
            guard let reason = reasons.popLast() else { return 7 }
            errno = reason
            return nil
        }
        #expect(result == 7)
    }
}
