import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FileStatusTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `a status is that of stat, by name, by descriptor and in an open folder`() throws {
        let path = try tree.write("12345", to: "a.jpg")
        var status = stat()
        #expect(lstat(path.string, &status) == 0)
        let stamp = try FileStatus(at: path).stamp
        #expect(stamp.device == UInt64(status.st_dev))
        #expect(stamp.inode == UInt64(status.st_ino))
        #expect(stamp.size == 5)
        #expect(stamp.modified == Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
        #expect(stamp.changed == Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec))
        let file = try FileDescriptor.open(path, .readOnly)
        #expect(try file.closeAfter { try FileStatus(of: file).stamp } == stamp)
        let folder = try FileDescriptor.open(tree.root, .readOnly)
        #expect(try folder.closeAfter { try FileStatus(of: "a.jpg", in: folder.rawValue).stamp } == stamp)
        #expect(FileStamp.ofFile(path) == stamp)
    }

    @Test func `only a regular file has a stamp, and links are not followed`() throws {
        try tree.write("1", to: "folder/a.jpg")
        #expect(symlink(tree.path("folder/a.jpg").string, tree.path("link").string) == 0)
        #expect(mkfifo(tree.path("pipe").string, 0o600) == 0)
        let kinds = try ["folder/a.jpg", "folder", "link", "pipe"].map { try FileStatus(at: tree.path($0)).kind }
        #expect(kinds == [.file, .folder, .link, .other])
        #expect(["folder", "link", "pipe", "none"].allSatisfy { FileStamp.ofFile(tree.path($0)) == nil })
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileStatus(at: tree.path("none")) }
        #expect(throws: Errno.badFileDescriptor) { try FileStatus(ofDescriptor: -1) }
    }

    @Test func `whether a folder ignores capitals is tried, and nothing of that stays`() throws {
        #expect(try !tree.root.ignoresCapitals())
        #expect(try tree.files() == [])
        #expect(throws: Errno.noSuchFileOrDirectory) { try tree.path("none").ignoresCapitals() }
    }

    @Test func `a hole takes no room on the disk, and is no written piece`() throws {
        let path = try tree.write("12345", to: "a.jpg")
        #expect(truncate(path.string, 16 << 20) == 0)
        let file = try FileDescriptor.open(path, .readOnly)
        try file.closeAfter {
            #expect(try FileStatus(of: file).allocated < 1 << 20)
            let piece = try #require(try file.writtenPiece(from: 0))
            #expect(piece.lowerBound == 0 && (5...1 << 20).contains(piece.upperBound))
            #expect(try file.writtenPiece(from: piece.upperBound) == nil)
        }
        #expect(throws: Errno.badFileDescriptor) { try FileDescriptor(rawValue: -1).writtenPiece(from: 0) }
    }

    @Test func `a file is given a moment, the times of another file, and now`() throws {
        let (path, other) = (try tree.write("1", to: "a.jpg"), try tree.write("2", to: "b.jpg"))
        let file = try FileDescriptor.open(path, .readOnly)
        try file.closeAfter {
            try FileTimes(seconds: 1_000, nanoseconds: 500_000_000).set(on: file)
            let second = try FileDescriptor.open(other, .readOnly)
            try second.closeAfter { try FileTimes(of: file).set(on: second) }
        }
        #expect(try FileStatus(at: path).stamp.modified == 1_000_500_000_000)
        #expect(try FileStatus(at: other).stamp.modified == 1_000_500_000_000)
        try other.setTimesToNow()
        #expect(try FileStatus(at: other).stamp.modified > 1_000_500_000_000)
    }

    @Test func `a rewrite that sets size and time back leaves another stamp`() throws {
        let path = try tree.write("12345", to: "a.jpg")
        let before = try FileStatus(at: path).stamp
        // The clock of a file system moves in ticks of some milliseconds; a write after the next one is told apart.
        repeat {
            try tree.overwrite("54321", "a.jpg")
            try tree.setModified(before.modified, of: "a.jpg")
        } while try FileStatus(at: path).stamp.changed == before.changed
        let after = try FileStatus(at: path).stamp
        #expect(after != before)
        #expect(!after.isUntouched(since: before))
        #expect(after.isRenamed(from: before))
    }

    @Test func `a file in the inode of a removed one has another stamp`() throws {
        let path = try tree.write("12345", to: "a.jpg")
        let before = try FileStatus(at: path).stamp
        var after: FileStamp
        repeat {
            #expect(unlink(path.string) == 0)
            try tree.write("54321", to: "a.jpg")
            try tree.setModified(before.modified, of: "a.jpg")
            after = try FileStatus(at: path).stamp
        } while after.changed == before.changed
        #expect(after != before)
        // A file system that tells no birth leaves only the time of the change, which a rename moves as well.
        if before.born != nil, after.born != before.born { #expect(!after.isRenamed(from: before)) }
    }

    @Test func `a rename leaves all of a stamp but the time of the change`() throws {
        let path = try tree.write("12345", to: "a.jpg")
        let before = try FileStatus(at: path).stamp
        let other = tree.path("b.jpg")
        #expect(rename(path.string, other.string) == 0)
        #expect(try FileStatus(at: other).stamp.isRenamed(from: before))
    }
}

extension TemporaryTree {
    /// Writes over a file, in place.
    fileprivate func overwrite(_ text: String, _ relative: String) throws {
        let file = try FileDescriptor.open(path(relative), .writeOnly)
        try file.closeAfter { _ = try file.writeAll(text.utf8) }
    }

    fileprivate func setModified(_ nanoseconds: Int64, of relative: String) throws {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        guard utimensat(AT_FDCWD, path(relative).string, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
    }
}
