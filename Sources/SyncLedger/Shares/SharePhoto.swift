import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// One photo of a share.
package struct SharePhoto: Hashable, Sendable {
    /// The copy that others see.
    package struct Copy: Hashable, Sendable {
        /// Of its bytes.
        package var sha256: SHA256Digest
        package var size: Int64
        /// Pixels.
        package var width: Int
        package var height: Int

        package init(sha256: SHA256Digest, size: Int64, width: Int, height: Int) {
            self.sha256 = sha256
            self.size = size
            self.width = width
            self.height = height
        }
    }

    /// Its place in names, from 0; it keeps it for as long as it is shared.
    package let slot: Int
    /// Among those that are seen; `nil` when it is no longer shared and its objects are to go.
    package let position: Int?
    /// Of the photo on the disk.
    package let md5: MD5Digest
    /// Where it is on this machine, or was.
    package let path: FilePath
    /// Where its stored copy is.
    package let sourceKey: ObjectKey?
    package let takenAt: CaptureTime?
    /// `nil` as long as the store does not have it.
    package let copy: Copy?
    /// Why it cannot be shared, in plain words.
    package let failure: String?
    /// Whether it would fail again.
    package let isFinal: Bool
    /// Whether its file was there when it was chosen: then nothing but that file is shared.
    package let isLocal: Bool
}

/// What came of an attempt to share a photo.
package enum SharePhotoOutcome: Hashable, Sendable {
    case stored(SharePhoto.Copy, takenAt: CaptureTime?)
    /// - Parameter isFinal: whether the same photo would fail again.
    case failed(String, isFinal: Bool)
}

extension SharePhoto {
    /// Whether a reading of the capture time counts before the one that is known. Of a stored copy it may lack the offset
    /// that the file on the disk has.
    package func isDatedAnew(by time: CaptureTime?) -> Bool {
        guard let time else { return false }
        return time != takenAt && (time.offset != nil || takenAt?.offset == nil)
    }
}

extension SharePhoto: FetchableRecord {
    static let columns = """
        slot, position, md5, path, source_key, taken_at, sha256, size, width, height, failure, is_final, is_local, \
        taken_offset
        """

    init(row: Row) throws {
        guard let md5 = MD5Digest(blob: row[2]) else { throw UnknownName() }
        let copy = SHA256Digest(blob: row[6]).map {
            Copy(sha256: $0, size: row[7], width: row[8], height: row[9])
        }
        self.init(
            slot: row[0], position: row[1], md5: md5, path: FilePath(blob: row[3]),
            sourceKey: try (row[4] as String?).map { try ObjectKey($0) },
            takenAt: CaptureTime(clock: row[5], offset: row[13]), copy: copy, failure: row[10], isFinal: row[11],
            isLocal: row[12])
    }
}
