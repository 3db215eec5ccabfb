import SyncSystem
import SyncTestSupport
import SystemPackage

/// Holds one of the locks of the state folder until it is released, as another `sync-agent` would. They are locks of
/// bytes: those of flock(2), as of ``HeldObject``, are in nobody's way there.
final class HeldAgentLock {
    private var file: FileDescriptor?

    init(_ name: String, of home: AgentHome) throws {
        let file = try FileDescriptor.open(
            home.tree.path("state/sync-agent").appending(name), .readWrite, options: [.create, .closeOnExec],
            permissions: [.ownerReadWrite])
        self.file = file
        guard try file.tryLockBytes(from: 0, 0) else { throw Errno.wouldBlock }
    }

    func release() {
        try? file?.close()
        file = nil
    }

    deinit { release() }
}
