import Foundation
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage

// What a person does with files while the agent runs.
extension FilePath {
    /// Writes a new file, and the folders above it. Not by a temporary name, so that the agent sees every step.
    func create(_ bytes: [UInt8]) throws {
        try removingLastComponent().createFolder()
        let file = try FileDescriptor.open(
            self, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: [.ownerReadWrite, .groupRead])
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }

    /// Writes over a file, which stays the same file.
    func overwrite(_ bytes: [UInt8]) throws {
        let file = try FileDescriptor.open(self, .writeOnly, options: [.truncate, .closeOnExec])
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }

    func createFolder() throws {
        try FileManager.default.createDirectory(atPath: string, withIntermediateDirectories: true)
    }

    /// rename(2)
    func move(to target: FilePath) throws {
        guard rename(string, target.string) == 0 else { throw Errno(rawValue: errno) }
    }

    func remove() throws { try FileManager.default.removeItem(atPath: string) }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: string))) }
    }

    /// When it was last written, in nanoseconds since 1970.
    var modified: Int64 {
        get throws { try FileStamp(of: self).modified }
    }

    func setMode(_ mode: mode_t) throws {
        guard chmod(string, mode) == 0 else { throw Errno(rawValue: errno) }
    }

    /// - Parameter nanoseconds: since 1970.
    func setModified(_ nanoseconds: Int64) throws {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        guard utimensat(AT_FDCWD, string, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Sets the time of the last change that many seconds into the past.
    func age(bySeconds seconds: Int) throws {
        let time = timeval(tv_sec: Int(Foundation.time(nil)) - seconds, tv_usec: 0)
        guard utimes(string, [time, time]) == 0 else { throw Errno(rawValue: errno) }
    }
}

/// A program that takes its time over a file: it has the file open from the first byte to the last.
final class SlowWriter: Sendable {
    private let file: FileDescriptor

    init(_ path: FilePath) throws {
        file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .closeOnExec], permissions: [.ownerReadWrite])
    }

    func write(_ bytes: some Sequence<UInt8>) throws { _ = try file.writeAll(bytes) }

    func close() throws { try file.close() }
}
