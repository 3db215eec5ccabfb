import GRDB

extension Ledger {
    /// A copy in memory, as of this moment: what is written to it is never kept. For dry runs.
    ///
    /// It takes about 300 bytes of memory for each photo.
    package func copyInMemory() throws(LedgerError) -> Ledger {
        let copy = try Ledger.inMemory()
        do {
            try database.backup(to: copy.database)
        } catch {
            throw LedgerError(error, operation: "copy the ledger", path: path)
        }
        return copy
    }
}
