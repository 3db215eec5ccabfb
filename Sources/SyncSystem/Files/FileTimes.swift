import Glibc
package import SystemPackage

/// When a file was read and changed last, as far as whoever owns it may set that (utimensat(2)).
package struct FileTimes {
    /// As futimens(3) takes them: of the last read, and of the last change.
    private let both: [timespec]

    /// Those of an open file.
    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        var status = stat()
        try Errno.calling { fstat(file.rawValue, &status) }
        both = [status.st_atim, status.st_mtim]
    }

    /// One moment as both.
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - nanoseconds: from 0 to 999,999,999, after the second.
    package init(seconds: Int64, nanoseconds: Int) {
        let moment = timespec(tv_sec: time_t(seconds), tv_nsec: nanoseconds)
        both = [moment, moment]
    }

    /// - Throws: `Errno`.
    package func set(on file: FileDescriptor) throws(Errno) {
        try Errno.calling { futimens(file.rawValue, both) }
    }
}

extension FilePath {
    /// Sets both times of what has the name to now.
    /// - Throws: `Errno`.
    package func setTimesToNow() throws(Errno) {
        try Errno.calling { withPlatformString { utimensat(AT_FDCWD, $0, nil, 0) } }
    }
}
