package import FoundationEssentials
import GRDB
package import SyncCore

/// A stored object as the ledger knows it. What the store says is right where the two differ.
package struct ObjectRecord: Hashable, Sendable {
    package var key: ObjectKey
    /// Bytes of the stored copy.
    package var size: Int64
    /// Of the photo on the disk; `nil` where it is not known.
    package var md5: MD5Digest?
    /// Of the stored bytes; `nil` where it is not known.
    package var sha256: SHA256Digest?
    /// As in `Content-Type`.
    package var contentType: String
    package var storageClass: StorageClass
    package var restore: RestoreState
    /// Pixels of the stored copy.
    package var width: Int?
    package var height: Int?
    /// Of a film, in milliseconds; `nil` where it is not known.
    package var duration: Duration?
    package var takenAt: CaptureTime?
    /// Whether an older version noted ``takenAt``: it is to be read again.
    package var isDatedBefore = false
    package var storedAt: Date
    /// Of the stored bytes; `nil` where it is not known.
    package var storedMD5: MD5Digest?
    /// As the store told it with the upload or in its first listing since; `nil` where it did not.
    package var etag: String?
    /// What is wrong with it; `nil` as long as nothing contradicts it.
    package var problem: ObjectFault?
    /// What the photo has and its copy has not.
    package var dropped: [DroppedPart]
    /// What else is to be known of the copy, in plain words.
    package var note: String?
    /// Of an original, where it is known.
    package var encoding: OriginalEncoding?

    package init(
        key: ObjectKey, size: Int64, md5: MD5Digest?, sha256: SHA256Digest?, contentType: String,
        storageClass: StorageClass = .standard, restore: RestoreState = .none, width: Int? = nil, height: Int? = nil,
        duration: Duration? = nil, takenAt: CaptureTime? = nil, storedAt: Date, storedMD5: MD5Digest? = nil,
        etag: String? = nil, problem: ObjectFault? = nil, dropped: [DroppedPart] = [], note: String? = nil
    ) {
        self.key = key
        self.size = size
        self.md5 = md5
        self.sha256 = sha256
        self.contentType = contentType
        self.storageClass = storageClass
        self.restore = restore
        self.width = width
        self.height = height
        self.duration = duration
        self.takenAt = takenAt
        self.storedAt = storedAt
        self.storedMD5 = storedMD5
        self.etag = etag
        self.problem = problem
        self.dropped = dropped
        self.note = note
    }
}

extension ObjectRecord {
    /// Whether its bytes can be read without a restore, as far as is known.
    package func isReadable(at now: Date) -> Bool {
        restore.asOf(now).allowsReading(ofArchived: storageClass.isArchive)
    }

    /// Whether it is readable, and nothing is known to be wrong with it.
    package func canBeRead(at now: Date) -> Bool { isReadable(at: now) && problem == nil }

    /// The same of a page: whoever looks has agreed to no price.
    /// - Parameter isFree: reading costs nothing in any class.
    package func canBeReadUnpriced(isFree: Bool, at now: Date) -> Bool {
        canBeRead(at: now) && (isFree || !storageClass.chargesRetrieval)
    }

    /// Whether it is archived, whole, and nobody has asked for it.
    package func canBeRestored(at now: Date) -> Bool {
        storageClass.isArchive && restore.asOf(now) == .none && problem == nil
    }
}

extension ObjectRecord {
    /// What a store tells of an object; where it has no digest of its own, what was written beside the bytes.
    package init(_ info: ObjectInfo) {
        self.init(
            key: info.key, size: info.size, md5: info.photoMD5, sha256: info.toldSHA256,
            contentType: info.contentType ?? MediaType.unknown.name, storageClass: info.storageClass,
            restore: info.restore, width: info.width, height: info.height, duration: info.duration,
            takenAt: info.takenAt, storedAt: info.modified ?? Date(timeIntervalSince1970: 0),
            storedMD5: info.md5 ?? info.claimedMD5, etag: info.etag)
        encoding = info.originalEncoding
    }
}

extension ObjectRecord: FetchableRecord {
    static let columns = """
        objects.key, objects.size, objects.md5, objects.sha256, objects.content_type, objects.storage_class, \
        objects.restore_state, objects.restored_until, objects.width, objects.height, objects.taken_at, \
        objects.stored_at, objects.stored_md5, objects.etag, objects.problem, objects.dropped, objects.note, \
        objects.taken_offset, objects.taken_rules, objects.encoding, objects.duration
        """
    static let columnCount = 21

    init(row: Row) throws {
        try self.init(row: row, from: 0)
    }

    /// - Parameter first: the index of the first of ``columns`` in the row.
    init(row: Row, from first: Int) throws {
        let restore = RestoreState(name: row[first + 6], until: row[first + 7])
        self.init(
            key: try ObjectKey(row[first] as String), size: row[first + 1],
            md5: MD5Digest(blob: row[first + 2]), sha256: SHA256Digest(blob: row[first + 3]),
            contentType: row[first + 4], storageClass: StorageClass(rawValue: row[first + 5]), restore: restore,
            width: row[first + 8], height: row[first + 9],
            duration: (row[first + 20] as Int64?).map { .milliseconds($0) },
            takenAt: CaptureTime(clock: row[first + 10], offset: row[first + 17]),
            storedAt: Date(milliseconds: row[first + 11]), storedMD5: MD5Digest(blob: row[first + 12]),
            etag: row[first + 13], problem: (row[first + 14] as String?).map(ObjectFault.init(text:)),
            dropped: (row[first + 15] as String?).map([DroppedPart].init(text:)) ?? [], note: row[first + 16])
        isDatedBefore = row[first + 18] as Int64 == 0
        encoding = (row[first + 19] as String?).flatMap(OriginalEncoding.init(rawValue:))
    }

    /// Takes ``arguments``.
    static let insertion = """
        INSERT INTO objects (key, size, md5, sha256, content_type, storage_class, restore_state, restored_until, width,
            height, taken_at, stored_at, stored_md5, etag, dropped, note, taken_offset, taken_rules, encoding, duration)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    var arguments: StatementArguments {
        [
            key.rawValue, size, md5?.blob, sha256?.blob, contentType, storageClass.rawValue, restore.name,
            restore.until, width, height, takenAt?.clock, storedAt.milliseconds, storedMD5?.blob, etag,
            dropped.isEmpty ? nil : dropped.text, note, takenAt?.offset, isDatedBefore ? 0 : 1,
            encoding?.rawValue, duration?.inMilliseconds,
        ]
    }
}

/// As the column `dropped` keeps it.
extension [DroppedPart] {
    var text: String { map(\.rawValue).joined(separator: ",") }

    /// What a later version has noted is left out.
    init(text: String) {
        self = text.split(separator: ",").compactMap { DroppedPart(rawValue: String($0)) }
    }
}

/// As the columns `restore_state` and `restored_until` keep it.
extension RestoreState {
    init(name: String, until: Int64?) {
        self =
            switch name {
            case "inProgress": .inProgress
            case "restored": .restored(until: until.map(Date.init(milliseconds:)))
            default: .none
            }
    }

    var name: String {
        switch self {
        case .none: "none"
        case .inProgress: "inProgress"
        case .restored: "restored"
        }
    }

    var until: Int64? {
        if case .restored(let until) = self { until?.milliseconds } else { nil }
    }
}

extension Digest {
    var blob: Data { Data(bytes) }

    init?(blob: Data?) {
        guard let blob else { return nil }
        self.init(bytes: [UInt8](blob))
    }
}

extension CaptureTime {
    /// As two columns keep it.
    init?(clock: Int64?, offset: Int?) {
        guard let clock else { return nil }
        self.init(clock: clock, offset: offset)
    }
}
