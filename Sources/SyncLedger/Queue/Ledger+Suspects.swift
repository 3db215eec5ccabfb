import GRDB

/// Photos that may have ended the agent: by a library that crashed over them, or by the memory that they took.
///
/// What is in hand is in the ledger anyway (`uploading`). At the first unclean end that makes a photo a suspect, and no
/// more: most of them were only being sent. While a suspect is decoded, that is noted; an agent that ends then ends with
/// the reason on record, and the photo is set aside. Photos that were never suspected cost nothing of this.
extension Ledger {
    static let setAside = """
        the agent was ended twice while it had this photo in hand; it was set aside, and nothing is stored of it as it is \
        now. Look at the file, and ask for another try with sync-agent retry
        """

    /// Runs `body`, which hands the photo to a library; of a suspect that is noted meanwhile.
    package func whileDecoding<Value>(_ claim: Claim, _ body: () throws -> Value) throws -> Value {
        guard claim.isSuspect else { return try body() }
        try note(claim, isDecoding: true)
        defer { try? note(claim, isDecoding: false) }
        return try body()
    }

    private func note(_ claim: Claim, isDecoding: Bool) throws(LedgerError) {
        try write("note what is in hand") { db in
            _ = try db.run("UPDATE suspects SET decoding = ? WHERE photo_id = ?", [isDecoding, claim.photoID])
        }
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
            try clearSuspicion(of: photo.id)
            return true
        }
        try run("INSERT OR REPLACE INTO suspects (photo_id, generation) VALUES (?, ?)", [photo.id, photo.generation])
        return false
    }

    func clearSuspicion(of photoID: Int64) throws {
        try run("DELETE FROM suspects WHERE photo_id = ?", [photoID])
    }
}
