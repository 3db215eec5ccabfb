import FoundationEssentials
import SyncCore
import SystemPackage

/// What the store knows of one object: the JSON file whose rename into `records/` is the commit.
struct ObjectRecord: Codable, Sendable {
    /// A temporary copy of an archived object. Which class takes how long is not the record's business.
    struct Restore: Codable, Sendable {
        /// From when on the object can be read.
        var readyAt: Date
        /// Until when; `nil` for ever.
        var expiresAt: Date?
        /// The tier that was asked for, as ``RestoreTier`` writes it.
        var tier: String?
    }

    var key: String
    /// The file with the bytes, relative to `objects/`.
    var file: String
    var size: Int64
    /// When the file was modified, in nanoseconds since 1970. `nil` in records of earlier versions.
    var contentModified: Int64?
    /// Hexadecimal, of the stored bytes, as the store read them from the body.
    var md5: String
    var sha256: String
    var contentType: String
    var storageClass: String
    var metadata: [String: String]
    /// When the put was committed, to the second.
    var modified: Date
    var restore: Restore?
}

extension ObjectRecord {
    /// Reads a record's JSON. `nil` when it is damaged: not JSON, values missing, or a path out of the store.
    init?(json: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let record = try? decoder.decode(ObjectRecord.self, from: Data(json)), record.isSound else { return nil }
        self = record
    }

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(self))
    }

    /// The record is a file that anyone may have edited; a path in it must not lead elsewhere, and not to the bytes of
    /// another key, which would go when this object is replaced.
    private var isSound: Bool {
        let path = FilePath(file)
        return path.isBelowAnyFolder
            && (try? ObjectKey(key)).map { ContentName.isPath(path, of: $0) } == true && size >= 0
    }

    func hasSameContent(_ other: ObjectRecord) -> Bool {
        file == other.file && sha256 == other.sha256
    }

    func restoreState(at now: Date) -> RestoreState {
        guard let restore else { return .none }
        if now < restore.readyAt { return .inProgress }
        if let end = restore.expiresAt, end <= now { return .none }
        return .restored(until: restore.expiresAt)
    }

    /// In an archive class, and not restored.
    func isArchived(at now: Date) -> Bool {
        guard StorageClass(rawValue: storageClass).isArchive else { return false }
        if case .restored = restoreState(at: now) { return false }
        return true
    }

    /// What is told of the object: of damaged bytes the size and digests that they have.
    func info(key: ObjectKey, at now: Date, _ proof: ContentProof) -> ObjectInfo {
        var info = info(key: key, at: now)
        if case .damaged(let size, let digest) = proof {
            info.size = size
            info.md5 = digest?.md5
            info.sha256 = digest?.sha256
        }
        return info
    }

    func info(key: ObjectKey, at now: Date) -> ObjectInfo {
        ObjectInfo(
            key: key, size: size, md5: MD5Digest(hex: md5), sha256: SHA256Digest(hex: sha256),
            storageClass: StorageClass(rawValue: storageClass), restore: restoreState(at: now),
            contentType: contentType, metadata: metadata, modified: modified)
    }
}
