import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// Reads a file of gallery events, and notes in the ledger what it holds. Everything here blocks.
struct EventFileNoter: Sendable {
    enum Finding: Sendable {
        /// With what is known of each event, in the same order.
        case events(GalleryEventFile, NotedEvents)
        case noEvents
        /// It is no whole JSON, and may hold events all the same. The reason quotes nothing of the file.
        case unreadable(String)
    }

    let ledger: Ledger
    let reducer: any PhotoReducer

    /// - Parameter stamp: of the file as it is read.
    /// - Throws: ``PhotoError``, ``LedgerError``.
    func note(_ claim: Claim, stamp: FileStamp) throws -> Finding {
        let text = try reducer.eventText(of: claim.file, stamp: stamp)
        let file = GalleryEventFile(text, profile: claim.folder.profile, name: claim.file.lastComponent)
        guard let file else {
            // What a cleanup leaves of a file is the cleanup's to remove.
            if EventFileReader.holdsNothing(text.bytes) { return .noEvents }
            if let damage = text.damage ?? JSONElements(of: text.bytes).damage.map({ "is damaged at \($0)" }) {
                return .unreadable(damage)
            }
            if try !ledger.events(of: claim.photoID).isEmpty { try ledger.noteEvents([], of: claim) }
            return .noEvents
        }
        var photos: [Int: MD5Digest] = [:]
        for event in file.events { photos[event.index] = event.photoDigest(in: text.bytes) }
        let noted = try ledger.noteEvents(
            file.events, photos: photos, isWhole: file.malformed.isEmpty, of: claim)
        guard noted.records.count == file.events.count else {
            throw PhotoError(.changed, "the file changed after it was examined")
        }
        return .events(file, noted)
    }
}
