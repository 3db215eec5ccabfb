import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

/// The objects of shares in an embedded store, as files: what a bucket shows to browsers by itself.
struct SharedFiles: Sendable {
    /// Bytes of a manifest.
    private static let mostBytes = 16 << 20

    let ledger: LedgerQueue
    let store: LocalStore
    let time: TimeSource

    /// A whole object of a share that has not ended.
    /// - Parameter path: below the share's own.
    /// - Returns: `nil` where there is none.
    /// - Throws: ``StoreError``, ``LedgerError``.
    func find(_ share: ShareID, _ path: [String]) async throws -> (path: FilePath, type: String)? {
        guard try await isLive(share), let key = try? ObjectKey(segments: ["shares", "\(share)"] + path),
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
