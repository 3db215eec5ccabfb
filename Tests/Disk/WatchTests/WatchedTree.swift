import FoundationEssentials
import Glibc
import SystemPackage

/// A folder of its own for one test, gone with it. Paths are relative to ``root``.
final class WatchedTree: Sendable {
    /// What is watched or scanned.
    let root: FilePath
    /// Beside the root, on the same file system.
    let outside: FilePath
    private let base: FilePath

    init() throws {
        base = FilePath("/tmp/sync-watch-tests-\(UUID().uuidString)")
        root = base.appending("root")
        outside = base.appending("outside")
        try FileManager.default.createDirectory(atPath: root.string, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: outside.string, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: base.string)
    }

    func path(_ relative: String) -> FilePath { FilePath("\(root.string)/\(relative)") }

    @discardableResult
    func write(_ relative: String, _ text: String = "photo") throws -> FilePath {
        try write(path(relative), text)
    }

    @discardableResult
    func write(_ file: FilePath, _ text: String = "photo") throws -> FilePath {
        let descriptor = try openForWriting(file)
        _ = try descriptor.closeAfter { try descriptor.writeAll(text.utf8) }
        return file
    }

    func openForWriting(_ file: FilePath) throws -> FileDescriptor {
        try FileDescriptor.open(
            file, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: [.ownerReadWrite])
    }

    @discardableResult
    func makeFolder(_ relative: String) throws -> FilePath {
        try makeFolder(at: path(relative))
        return path(relative)
    }

    func makeFolder(at place: FilePath) throws {
        try FileManager.default.createDirectory(atPath: place.string, withIntermediateDirectories: true)
    }

    func makeLink(_ relative: String, to target: FilePath) throws {
        try check(symlink(target.string, path(relative).string))
    }

    func makeHardLink(_ relative: String, to file: FilePath) throws {
        try check(link(file.string, path(relative).string))
    }

    func move(_ from: FilePath, to: FilePath) throws {
        try check(rename(from.string, to.string))
    }

    func remove(_ path: FilePath) throws {
        try FileManager.default.removeItem(atPath: path.string)
    }

    private func check(_ result: Int32) throws {
        if result != 0 { throw Errno(rawValue: errno) }
    }
}
