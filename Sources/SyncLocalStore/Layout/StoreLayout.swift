import SyncCore
import SyncDigest
import SystemPackage

/// Where things lie in the store's folder.
struct StoreLayout: Sendable {
    let root: FilePath

    var marker: FilePath { root.appending("sync-agent-store.json") }
    var objects: FilePath { root.appending("objects") }
    var records: FilePath { root.appending("records") }
    var staging: FilePath { root.appending("staging") }
    var locks: FilePath { root.appending("locks") }
    var folders: [FilePath] { [objects, records, staging, locks] }

    /// One of 256 lock files. Keys that share one only wait for each other's commits.
    func lock(for key: ObjectKey) -> FilePath {
        // FNV-1a (RFC 9923): it has to be the same in every process and version, which `Hasher` is not.
        let hash = key.rawValue.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let name = String((hash ^ (hash >> 16)) & 0xFF, radix: 16)
        return locks.appending(name.count == 1 ? "0" + name : name)
    }

    /// The note that a commit of the key leaves in `staging/` until its folders are synced.
    func unsettled(_ key: ObjectKey) -> FilePath {
        staging.appending(SHA256Digest(of: key.rawValue.utf8).description.prefix(32) + Self.unsettledSuffix)
    }

    static let unsettledSuffix = "-unsettled.json"

    func record(for key: ObjectKey) -> FilePath {
        records.pushing(FilePath(RecordPath.path(of: key)))
    }

    /// The file that a record names.
    func content(_ record: ObjectRecord) -> FilePath {
        objects.pushing(FilePath(record.file))
    }
}
