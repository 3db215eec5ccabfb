import FoundationEssentials
import GRDB
package import SyncCore

/// Photos that may have ended the agent: by a library that crashed over them, or by the memory that they took.
///
/// What is in hand is in the ledger anyway (`uploading`). At the first unclean end that makes a photo a suspect, and no
/// more: most of them were only being sent. While a suspect is decoded, that is noted; an agent that ends then ends with
/// the reason on record, and the photo is set aside. Of a file of events that is the one photo, by its bytes: its
/// neighbours in the file go on. Photos that were never suspected cost nothing of this.
extension Ledger {
    package static let setAside = """
        the agent was ended twice while it had this photo in hand; it was set aside, and nothing is stored of it as it is \
        now. Look at the file, and ask for another try with sync-agent retry
        """

    /// The same of a file that counted as a copy of a stored photo.
    static let copySetAside = """
        the agent was ended twice while it had this file in hand, and it is not read again as it is; the photo of this \
        name that was found on another drive is stored as it was
        """

    /// Runs `body`, which hands the photo to a library; of a suspect that is noted meanwhile.
    /// - Parameter photo: which of the photos in a file of events; `nil` for the file itself.
    package func whileDecoding<Value>(
        _ claim: Claim, photo: MD5Digest? = nil, _ body: () throws -> Value
    ) throws -> Value {
        guard claim.isSuspect else { return try body() }
        try note(claim, photo, isDecoding: true)
        defer { try? note(claim, nil, isDecoding: false) }
        return try body()
    }

    /// Why a photo in a file of events is not tried again; `nil` where it may be.
    package func whySetAside(_ photo: MD5Digest, in claim: Claim) throws(LedgerError) -> String? {
        try read("look up what was set aside") { db in
            let isSetAside = try db.number(
                "SELECT 1 FROM event_photos_set_aside WHERE photo_id = ? AND md5 = ?", [claim.photoID, photo.blob])
            return isSetAside == nil ? nil : Self.setAside
        }
    }

    private func note(_ claim: Claim, _ photo: MD5Digest?, isDecoding: Bool) throws(LedgerError) {
        try write(
            "note what is in hand", "UPDATE suspects SET decoding = ?, photo = ? WHERE photo_id = ?",
            [isDecoding, photo?.blob, claim.photoID])
    }
}

extension Database {
    func isSuspect(_ photo: PhotoRow) throws -> Bool {
        try number("SELECT 1 FROM suspects WHERE photo_id = ? AND generation = ?", [photo.id, photo.generation]) != nil
    }

    /// The agent has ended uncleanly with this photo in hand.
    /// - Returns: whether it is to be set aside.
    func suspect(_ photo: PhotoRow) throws -> Bool {
        let wasDecoded = try number(
            "SELECT decoding FROM suspects WHERE photo_id = ? AND generation = ?", [photo.id, photo.generation])
        if wasDecoded == 1 {
            // Of a file of events, the rest goes on, and stays under suspicion.
            if try setAsideEventPhoto(of: photo.id) { return false }
            try clearSuspicion(of: photo.id)
            return true
        }
        try run("INSERT OR REPLACE INTO suspects (photo_id, generation) VALUES (?, ?)", [photo.id, photo.generation])
        return false
    }

    /// - Returns: `false` when it was the file itself that was decoded.
    private func setAsideEventPhoto(of photoID: Int64) throws -> Bool {
        let isOne = try run(
            """
            INSERT OR IGNORE INTO event_photos_set_aside (photo_id, md5)
            SELECT photo_id, photo FROM suspects WHERE photo_id = ? AND photo IS NOT NULL
            """, [photoID])
        guard isOne > 0 else { return false }
        try endDecoding(of: photoID)
        return true
    }

    /// It stays under suspicion.
    func endDecoding(of photoID: Int64) throws {
        try run("UPDATE suspects SET decoding = 0, photo = NULL WHERE photo_id = ?", [photoID])
    }

    func clearSuspicion(of photoID: Int64) throws {
        try run("DELETE FROM suspects WHERE photo_id = ?", [photoID])
    }
}
