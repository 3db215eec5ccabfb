import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

/// Why a guest's photo is not taken.
enum GuestRefusal: Error {
    case notAPhoto, full
}

/// The objects of shares in an embedded store, as files: what a bucket shows to browsers by itself.
struct SharedFiles: Sendable {
    /// Bytes of a manifest.
    private static let mostBytes = 16 << 20

    let ledger: LedgerQueue
    let store: LocalStore
    let time: TimeSource

    /// Takes a photo of a guest, which nobody sees before the owner has accepted it.
    /// - Returns: `nil` where the share takes none, or none any more.
    /// - Throws: ``GuestRefusal``, ``StoreError``, ``LedgerError``.
    func add(_ photo: [UInt8], to share: ShareID, type: String) async throws -> ShareID? {
        guard try await takesGuests(share) else { return nil }
        guard type.hasPrefix(GuestRules.upload.contentType), !photo.isEmpty, photo.count <= GuestRules.mostBytes else {
            throw GuestRefusal.notAPhoto
        }
        let keys = ShareKeys(share)
        var taken: Set<Int> = []
        for try await objects in store.pages(prefix: keys.guestFolder) {
            taken.formUnion(objects.compactMap { keys.guestSlot(of: $0.key) })
        }
        let body = ObjectBody(bytes: photo, digest: ContentDigest(of: photo))
        for slot in 0..<GuestRules.mostPhotos where !taken.contains(slot) {
            do {
                _ = try await store.put(
                    body, at: keys.guest(slot), attributes: ObjectAttributes(contentType: type), condition: .ifAbsent)
                return share
            } catch let error as StoreError where error.code == .alreadyExists {
                continue
            }
        }
        throw GuestRefusal.full
    }

    /// Only a share of this machine does: another's agent decides on its own guests.
    func takesGuests(_ share: ShareID) async throws -> Bool {
        guard let known = try await ledger({ try $0.share(share) }) else { return false }
        return known.takesGuests && known.state == .live && known.expiresAt > time.now()
    }

    /// A whole object of a share that has not ended.
    /// - Parameter path: below the share's own.
    /// - Returns: `nil` where there is none.
    /// - Throws: ``StoreError``, ``LedgerError``.
    func find(_ share: ShareID, _ path: [String]) async throws -> (path: FilePath, type: String)? {
        guard path.first != ShareKeys.guestName, try await isLive(share),
            let key = try? ObjectKey(segments: ["shares", "\(share)"] + path),
            let found = try await store.file(of: key)
        else { return nil }
        return (found.path, found.info.contentType ?? "application/octet-stream")
    }

    private func isLive(_ share: ShareID) async throws -> Bool {
        if let known = try await ledger({ try $0.share(share) }) {
            return known.state == .live && known.expiresAt > time.now()
        }
        // One of another machine is known to the store alone.
        guard let key = try? ObjectKey(segments: ["shares", "\(share)", "vacation.json"]),
            let bytes = try? await store.bytes(of: key, limit: Self.mostBytes),
            let manifest = try? Self.decoder().decode(ShareManifest.self, from: Data(bytes))
        else { return false }
        return manifest.expiresAt > time.now()
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
