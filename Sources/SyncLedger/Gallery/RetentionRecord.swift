package import FoundationEssentials
import GRDB
package import SyncCore

/// What remains of an event that was signed off: proof, and no text.
package struct RetentionRecord: Hashable, Sendable {
    package var eventID: String
    package var userID: String
    /// As it is in the key.
    package var profile: String
    package var type: GalleryEventType
    package var createdAt: Date
    package var signedOffAt: Date
    /// Where its photo is proven to be stored, and as what; `nil` for an event without a photo.
    package var photo: ArchivedPhoto?

    package struct ArchivedPhoto: Hashable, Sendable {
        package var key: ObjectKey
        /// Of the stored bytes.
        package var sha256: SHA256Digest

        package init(key: ObjectKey, sha256: SHA256Digest) {
            self.key = key
            self.sha256 = sha256
        }
    }
}

extension RetentionRecord: FetchableRecord {
    static let columns = "event_id, user_id, profile, type, created_at, signed_off_at, key, sha256"

    init(row: Row) throws {
        guard let type = GalleryEventType(rawValue: row[3]) else { throw UnknownName() }
        let photo = try (row[6] as String?).flatMap { key in
            try SHA256Digest(blob: row[7]).map { ArchivedPhoto(key: try ObjectKey(key), sha256: $0) }
        }
        self.init(
            eventID: String((row[0] as String).prefix { $0 != "\u{1F}" }), userID: row[1], profile: row[2], type: type,
            createdAt: Date(milliseconds: row[4]),
            signedOffAt: Date(milliseconds: row[5]), photo: photo)
    }
}
