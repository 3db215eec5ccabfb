import Glibc
package import SystemPackage

/// Calls that are made again when a signal interrupts them. On a network drive, or a file system that is a program
/// (FUSE), any call may be interrupted, also one that does not wait on a disk. Only close(2) is never made again: the
/// descriptor is gone by then, and the number may be another file's.
extension Errno {
    /// Makes a call that returns a number below 0 where it fails, and says why in `errno`.
    /// - Returns: what it does.
    /// - Throws: `Errno`, never `.interrupted`.
    @discardableResult
    package static func calling(_ call: () -> Int32) throws(Errno) -> Int32 {
        try answer { () -> Int32? in
            let result = call()
            return result < 0 ? nil : result
        }
    }

    /// Makes a call that returns nothing where it fails, and says why in `errno`.
    /// - Throws: `Errno`, never `.interrupted`.
    package static func callingForPointer<Pointer>(_ call: () -> Pointer?) throws(Errno) -> Pointer {
        try answer(of: call)
    }

    /// - Parameter call: answers nothing where it fails.
    private static func answer<Answer>(of call: () -> Answer?) throws(Errno) -> Answer {
        while true {
            if let answer = call() { return answer }
            let reason = Errno(rawValue: errno)
            if reason != .interrupted { throw reason }
        }
    }

    /// Makes a call of `CSyncLinux` that returns an errno.
    /// - Returns: that; 0 where it has not failed.
    static func code(_ call: () -> Int32) -> Errno {
        Errno(rawValue: repeating(while: Errno.interrupted.rawValue, call))
    }

    /// Makes a call of `CSyncLinux` that returns something else, or an errno in some form.
    /// - Parameter interruption: what it returns where a signal has interrupted it.
    static func repeating<Result: SignedInteger>(while interruption: Result, _ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result != interruption { return result }
        }
    }
}
