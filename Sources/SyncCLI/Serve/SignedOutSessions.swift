import SyncCore
import SyncSystem
import SystemPackage

/// Sessions that were signed out, kept in a file until they would have ended anyway: no restart lets one in again.
final class SignedOutSessions: Sendable {
    /// Bytes. Each takes 30, and whoever signs out was signed in.
    private static let mostBytes = 1 << 20

    private let path: FilePath
    /// When each would have ended, in milliseconds since 1970.
    private let ends: Mutex<[String: Int64]>
    /// Held by whoever writes the file.
    private let writing = Mutex(())

    /// - Throws: `Errno` where there is a file that cannot be read.
    init(in folder: FilePath) throws {
        path = folder.appending("serve.signed-out")
        ends = Mutex(try Self.read(path))
    }

    /// - Parameter session: without its signature.
    func contains(_ session: String) -> Bool { ends.withLock { $0[session] != nil } }

    /// It counts from now on in this process, and after ``save(now:)`` in each.
    func insert(_ session: String, until end: Int64) { ends.withLock { $0[session] = end } }

    /// Blocks.
    /// - Parameter now: in milliseconds since 1970.
    /// - Throws: `Errno`.
    func save(now: Int64) throws {
        try writing.withLock { _ in
            // Another process may have signed some out.
            let others = try Self.read(path)
            let kept = ends.withLock { ends in
                ends = ends.merging(others) { one, _ in one }.filter { $0.value > now }
                return ends
            }
            let text = kept.map { "\($0.value) \($0.key)\n" }.sorted().joined()
            _ = try NewFile.save(text.utf8, to: path, permissions: .ownerReadWrite, overwrites: true)
        }
    }

    private static func read(_ path: FilePath) throws -> [String: Int64] {
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor.opened(path, .readOnly, [.noFollow, .closeOnExec])
            defer { try? file.close() }
            bytes = try file.bytes(atMost: mostBytes)
        } catch Errno.noSuchFileOrDirectory {
            return [:]
        }
        var ends: [String: Int64] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let end = Int64(parts[0]) { ends[String(parts[1])] = end }
        }
        return ends
    }
}
