import FoundationEssentials
import SyncCore
import SystemPackage

/// What the store knows of one object: the JSON file whose rename into `records/` is the commit.
struct CommitRecord: Encodable, Sendable {
    /// A temporary copy of an archived object. Which class takes how long is not the record's business.
    struct Restore: Encodable, Sendable {
        /// From when on the object can be read.
        var readyAt: Date
        /// Until when; `nil` for ever.
        var expiresAt: Date?
        /// The tier that was asked for, as ``RestoreTier`` writes it.
        var tier: String?
    }

    /// Bytes. Most have some hundred; a key of 1 KiB, its path and metadata of 2 KiB, all escaped, take a third of this.
    static let maximumSize = 64 << 10

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

extension CommitRecord {
    /// Reads a record's JSON. `nil` when it is damaged: too long, no JSON, values missing, or a path out of the store.
    ///
    /// Field by field: a listing reads a record for each object, and a decoder takes ten times as long.
    init?(json: [UInt8]) {
        guard json.count <= Self.maximumSize, let fields = JSONObject(whole: json),
            let record = CommitRecord(fields), record.isSound
        else { return nil }
        self = record
    }

    private init?(_ fields: JSONObject) {
        guard let key = fields.string("key"), let file = fields.string("file"),
            let size = fields.integer("size"), let md5 = fields.string("md5"), let sha256 = fields.string("sha256"),
            let contentType = fields.string("contentType"), let storageClass = fields.string("storageClass"),
            let metadata = fields.object("metadata")?.strings(), let modified = fields.date("modified")
        else { return nil }
        self.init(
            key: key, file: file, size: size, md5: md5, sha256: sha256, contentType: contentType,
            storageClass: storageClass, metadata: metadata, modified: modified)
        if fields.has("contentModified") {
            guard let time = fields.integer("contentModified") else { return nil }
            contentModified = time
        }
        if fields.has("restore") {
            guard let restore = fields.object("restore").flatMap(Restore.init) else { return nil }
            self.restore = restore
        }
    }

    /// - Throws: ``StoreError`` `.tooLarge` where nobody could read it again.
    func json() throws -> [UInt8] {
        let json = try ReadableJSON.json(self)
        guard json.count <= Self.maximumSize else {
            throw StoreError(
                .tooLarge, operation: "put", key: key,
                message: "type and metadata are longer than a record may be (\(Self.maximumSize >> 10) KiB)")
        }
        return json
    }

    /// The record is a file that anyone may have edited; a path in it must not lead elsewhere, and not to the bytes of
    /// another key, which would go when this object is replaced.
    private var isSound: Bool {
        guard ObjectInfo.sizes.contains(size), let key = try? ObjectKey(key) else { return false }
        return ContentName.isPath(file, of: key)
    }

    func hasSameContent(_ other: CommitRecord) -> Bool {
        file == other.file && sha256 == other.sha256
    }

    func restoreState(at clock: RestoreClock) -> RestoreState {
        guard let restore else { return .none }
        if clock.isAwaited(restore.readyAt) { return .inProgress }
        if let end = restore.expiresAt, end <= clock.now { return .none }
        return .restored(until: restore.expiresAt)
    }

    /// In an archive class, and not restored.
    func isArchived(at clock: RestoreClock) -> Bool {
        !restoreState(at: clock).allowsReading(ofArchived: StorageClass(rawValue: storageClass).isArchive)
    }

    /// What is told of the object: the size that its bytes have, and of damaged ones their digests.
    func info(key: ObjectKey, at clock: RestoreClock, _ proof: ContentProof) -> ObjectInfo {
        var info = info(key: key, at: clock)
        switch proof {
        case .missing: break
        case .whole(let size, _): info.size = size
        case .damaged(let size, let digest):
            info.size = size
            info.md5 = digest?.md5
            info.sha256 = digest?.sha256
        }
        return info
    }

    func info(key: ObjectKey, at clock: RestoreClock) -> ObjectInfo {
        ObjectInfo(
            key: key, size: size, md5: MD5Digest(hex: md5), sha256: SHA256Digest(hex: sha256),
            storageClass: StorageClass(rawValue: storageClass), restore: restoreState(at: clock),
            contentType: contentType, metadata: metadata, modified: modified)
    }
}

/// The time by which a store judges its restores.
struct RestoreClock: Sendable {
    let now: Date
    /// How long a restore takes.
    let duration: Duration

    /// Whether a restore that is ready at this moment is waited for. None takes longer than all of them do: what would was
    /// asked for by a clock that was ahead and has been set back, and its bytes are here.
    func isAwaited(_ readyAt: Date) -> Bool {
        // Records hold whole seconds, and those that take time are ready a part of one later.
        now < readyAt && readyAt.timeIntervalSince(now) <= duration / .seconds(1) + 1
    }
}

extension CommitRecord.Restore {
    fileprivate init?(_ fields: JSONObject) {
        guard let readyAt = fields.date("readyAt") else { return nil }
        self.init(readyAt: readyAt)
        if fields.has("expiresAt") {
            guard let end = fields.date("expiresAt") else { return nil }
            expiresAt = end
        }
        tier = fields.string("tier")
    }
}
