import Foundation
import Glibc
import SystemPackage

extension StoreFolder {
    /// Lets time pass for restores: each is done, and its copy ends that many seconds from now.
    func endCopies(inSeconds seconds: Int) throws {
        let now = Date()
        for path in try recordPaths() {
            let bytes = try Data(contentsOf: URL(filePath: path.string))
            guard var record = try JSONSerialization.jsonObject(with: bytes) as? [String: Any],
                var restore = record["restore"] as? [String: Any]
            else { continue }
            restore["readyAt"] = (now - 1).ISO8601Format()
            restore["expiresAt"] = (now + Double(seconds)).ISO8601Format()
            record["restore"] = restore
            // Beside the store, where no listing meets it.
            let staged = root.removingLastComponent().appending("record")
            try JSONSerialization.data(withJSONObject: record).write(to: URL(filePath: staged.string))
            try staged.move(to: path)
        }
    }

    /// The tier that each restored object was asked for in, by key.
    func restoreTiers() throws -> [String: String] {
        try recordPaths().reduce(into: [:]) { tiers, path in
            let bytes = try Data(contentsOf: URL(filePath: path.string))
            guard let record = try JSONSerialization.jsonObject(with: bytes) as? [String: Any],
                let key = record["key"] as? String, let restore = record["restore"] as? [String: Any]
            else { return }
            tiers[key] = restore["tier"] as? String ?? ""
        }
    }
}

/// Holds every lock of a store, as another process would that is slow: whoever wants to change an object waits.
final class HeldStore: Sendable {
    private let files: [FileDescriptor]

    init(_ store: StoreFolder) throws {
        let folder = store.root.appending("locks")
        files = try (0..<256).map { number in
            let name = String(number, radix: 16)
            let file = try FileDescriptor.open(
                folder.appending(name.count == 1 ? "0\(name)" : name), .readWrite, options: [.create, .closeOnExec],
                permissions: [.ownerReadWrite])
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
            return file
        }
    }

    deinit {
        for file in files { try? file.close() }
    }
}

extension StoreFolder {
    /// The file that is locked by whoever changes an object, as the store names it: FNV-1a (RFC 9923), folded to a byte.
    func lock(of key: String) -> FilePath {
        let hash = key.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let name = String((hash ^ (hash >> 16)) & 0xFF, radix: 16)
        return root.pushing("locks").appending(name.count == 1 ? "0" + name : name)
    }
}

/// Holds one of the locks until it is released.
final class HeldObject: Sendable {
    private let file: FileDescriptor

    init(lock: FilePath) throws {
        file = try FileDescriptor.open(
            lock, .readWrite, options: [.create, .closeOnExec], permissions: [.ownerReadWrite])
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
    }

    func release() { flock(file.rawValue, LOCK_UN) }

    deinit { try? file.close() }
}
