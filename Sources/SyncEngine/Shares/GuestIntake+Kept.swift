import Logging
package import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
package import SystemPackage

/// What is kept on this machine and not noted, as after a rebuild of the ledger: it may be the only copy.
extension GuestIntake {
    /// A file among what is kept here that cannot be read now. It stays, and keeps its number.
    package struct KeptFault: Error, Hashable, Sendable, CustomStringConvertible {
        package let file: FilePath
        /// In plain words.
        package let reason: String

        package var description: String {
            "\(file.string.escapingControls) is kept here, and cannot be read: \(reason); see to it, or move it to another "
                + "folder"
        }
    }

    /// What is kept of a share and is not noted waits again, whatever the store has of it.
    /// - Throws: ``ShareError/inOtherHands(_:)`` while another process takes photos of the share in; ``KeptFault`` when the
    ///   others wait; `Errno`, ``FolderError``, ``LedgerError``, `CancellationError`.
    func takeUp(_ share: ShareID) async throws {
        if try await unnoted(share).isEmpty { return }
        guard let lock = try await disk.run({ [box] in try box.lock(share) }) else {
            throw ShareError.inOtherHands(share)
        }
        let result = await Result { try await adopt(share) }
        try? lock.close()
        guard let fault = try result.get() else { return }
        try await ledger.finish { try $0.noteGuestProblem("\(fault)", of: share) }
        throw fault
    }

    /// The same of all shares, those that are over, too.
    /// - Returns: what it failed with, by shares.
    /// - Throws: `Errno` or ``FolderError`` where none can be listed, ``LedgerError``, `CancellationError`.
    package func takeUpAll() async throws -> [(share: ShareID, failure: any Error)] {
        var failures: [(share: ShareID, failure: any Error)] = []
        for share in try await disk.run({ [box] in try box.shares() }) {
            do {
                try await takeUp(share)
            } catch let error where error.mayConcernOneItem {
                failures.append((share, error))
            }
        }
        return failures
    }

    func unnoted(_ share: ShareID) async throws -> [(slot: Int, file: FilePath)] {
        let kept = try await disk.run { [box] in try box.kept(share) }
        if kept.isEmpty { return [] }
        let noted = Set(try await ledger { try $0.guestPhotos(of: share) }.map(\.slot))
        return kept.filter { !noted.contains($0.slot) }
    }

    /// - Returns: the first one that cannot be read, when the others are noted.
    func adopt(_ share: ShareID) async throws -> KeptFault? {
        var fault: KeptFault?
        for (slot, file) in try await unnoted(share) {
            do {
                let (found, _) = try await pool.run { [reducer, maker] in
                    try PooledWork.step { try Self.examine(file, reducer, maker) }
                }
                let photo = GuestPhoto(
                    share: share, slot: slot, sha256: found.digest.sha256, size: found.stamp.size,
                    contentType: found.type.name, receivedAt: time.now())
                _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
            } catch let error as PhotoError {
                switch error.code {
                case .stopped: throw CancellationError()
                case .missing: continue
                default: break
                }
                if let objection = Self.objection(to: error) {
                    try await setAside(file, slot, of: share, objection)
                } else {
                    fault = fault ?? KeptFault(file: file, reason: error.message)
                }
            }
        }
        return fault
    }

    /// Notes once what nobody could have any use of. Nobody has to see to it: it stays, and is in nobody's way.
    private func setAside(_ file: FilePath, _ slot: Int, of share: ShareID, _ objection: String) async throws {
        let reason = "\(file.string): \(objection); nothing is done with this file: it can be deleted"
        logger.notice("share \(share): \(reason.escapingControls)")
        let size = try await disk.run { FileStamp.ofFile(file)?.size ?? 0 }
        let photo = GuestPhoto(
            share: share, slot: slot, sha256: SHA256Digest(of: []), size: size, contentType: MediaType.unknown.name,
            receivedAt: time.now(), state: .refused, reason: reason)
        _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
    }

    // MARK: What a file is

    private static let thumbnailSide = 320

    /// What it is, and a small picture of it; `nil` for a photo that cannot be decoded here, and is one all the same.
    static func examine(
        _ file: FilePath, _ reducer: any PhotoReducer, _ maker: any SharedCopyMaker
    ) throws(PhotoError) -> (found: PhotoFacts, small: [UInt8]?) {
        let found = try reducer.examine(file)
        guard MediaType.isPicture(found.type.name) else { throw PhotoError(.notAPhoto, "it is no photo") }
        do throws(PhotoError) {
            let small = try maker.thumbnail(of: .file(file), side: thumbnailSide)
            guard case .reduced(let bytes) = small.content else { return (found, nil) }
            return (found, bytes)
        } catch {
            guard error.isPermanent, objection(to: error) == nil else { throw error }
            return (found, nil)
        }
    }

    /// Why nobody could have any use of what is kept nowhere on this machine; `nil` where somebody could.
    static func objection(to error: PhotoError) -> String? {
        switch error.code {
        case .truncated: "the file ends before its picture does"
        case .corrupt: "the picture's data is damaged"
        case .notAPhoto, .notStored: "it is no photo"
        default: nil
        }
    }
}
