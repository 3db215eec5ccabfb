import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// A ledger with shares of one vacation. `me` and `other` stand for two processes.
final class ShareLedger {
    let ledger: Ledger
    var now = Date(timeIntervalSince1970: 1_000_000)
    let me = "100-a"
    let other = "200-b"
    private var generator = SystemRandomNumberGenerator()

    static let folder: FilePath = "/pictures/trips/Paris"

    init() throws {
        ledger = try Ledger.inMemory()
    }

    /// - Parameter photos: a letter for each photo, in order.
    func draft(
        _ photos: String, selection: PhotoSelection? = nil, quality: ShareQuality = .reduced,
        location: String = "Paris", tellsNames: Bool = false, expiresIn seconds: TimeInterval = 1_000
    ) throws -> ShareDraft {
        guard let start = CalendarDay("2024-06-15"), let end = CalendarDay("2024-06-22") else { throw NoDay() }
        return ShareDraft(
            folder: Self.folder, selection: selection, quality: quality, location: location, startDate: start,
            endDate: end, sharedBy: "Ana", expiresAt: Date(timeIntervalSince1970: 1_000_000 + seconds),
            tellsNames: tellsNames,
            photos: try photos.map { letter in
                ShareDraft.Photo(
                    md5: try Self.md5(letter), path: Self.folder.appending("\(letter).jpg"),
                    sourceKey: try ObjectKey("users/ana/photos/\(letter).dat"))
            })
    }

    func newID() -> ShareID { ShareID(using: &generator) }

    /// A share in my hands.
    func add(_ photos: String) throws -> ShareID {
        let id = newID()
        guard try ledger.addShare(id, draft(photos), by: me, at: now) else { throw NoShare() }
        return id
    }

    /// Stores what is to be seen and is not stored yet, and publishes it.
    func publish(_ id: ShareID) throws {
        for photo in try ledger.sharePhotos(id) where photo.position != nil && photo.copy == nil {
            _ = try ledger.noteSharePhoto(photo.slot, of: id, .stored(Self.copy, takenAt: nil), by: me, at: now)
        }
        _ = try ledger.noteSharePublished(
            id, link: StoreLink(url: "https://x.test/\(id)", endsAt: now + 500), linksEndAt: now + 400, by: me, at: now)
    }

    func share(_ id: ShareID) throws -> ShareRecord {
        guard let share = try ledger.share(id) else { throw NoShare() }
        return share
    }

    /// What is seen, and after a bar what is to go: `c0 a2 | b1`, each with its slot.
    func photos(_ id: ShareID) throws -> String {
        let photos = try ledger.sharePhotos(id)
        func names(_ photos: [SharePhoto]) -> String {
            photos.map { "\($0.path.stem ?? "")\($0.slot)" }.joined(separator: " ")
        }
        let gone = photos.filter { $0.position == nil }
        return names(photos.filter { $0.position != nil }) + (gone.isEmpty ? "" : " | " + names(gone))
    }

    static var copy: SharePhoto.Copy {
        get throws {
            guard let digest = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)) else { throw NoShare() }
            return SharePhoto.Copy(sha256: digest, size: 10, width: 4, height: 3)
        }
    }

    static func md5(_ letter: Character) throws -> MD5Digest {
        guard let digest = MD5Digest(bytes: [UInt8](repeating: letter.asciiValue ?? 0, count: 16)) else {
            throw NoShare()
        }
        return digest
    }

    struct NoShare: Error {}
    struct NoDay: Error {}
}
