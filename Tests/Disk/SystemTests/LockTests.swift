import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Locks that the kernel drops with the last descriptor of an opening.
@Suite struct LockTests {
    private let tree: TemporaryTree
    private let (one, other): (FileDescriptor, FileDescriptor)

    init() throws {
        tree = try TemporaryTree()
        try tree.write("x", to: "lock")
        one = try FileDescriptor.opened(tree.path("lock"), .readWrite, [.closeOnExec])
        other = try FileDescriptor.opened(tree.path("lock"), .readWrite, [.closeOnExec])
    }

    @Test func `one opening of a file at a time has its lock`() throws {
        #expect(one.tryLock())
        #expect(!other.tryLock())
        one.unlock()
        #expect(other.tryLock())
        try other.close()
        try one.waitForLock()
        try one.close()
    }

    @Test func `a lock of bytes is seen without being taken, and ends with its file`() throws {
        #expect(try one.tryLockBytes(from: 7, 1))
        #expect(try other.areBytesLocked(from: 7, 1))
        #expect(try other.areBytesLocked(from: 0, 0))
        #expect(try !other.areBytesLocked(from: 8, 1))
        #expect(try !other.tryLockBytes(from: 0, 0))
        #expect(try other.tryLockBytes(from: 8, 1))
        try one.close()
        #expect(try !other.areBytesLocked(from: 7, 1))
        try other.close()
    }
}
