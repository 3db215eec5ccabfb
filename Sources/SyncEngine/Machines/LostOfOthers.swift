import SyncCore
import SyncLedger

/// What a rebuild has called lost of other machines, held against what their catalogues name by now. They are read only
/// where there is such a loss.
struct LostOfOthers: Sendable {
    let ledger: LedgerQueue
    let catalogs: OtherCatalogs

    /// What a machine names no more is no loss here: it has deleted it, or stored it under another key. Of one whose
    /// catalogue cannot be read to its end, all stays as it is.
    /// - Parameter machines: the user's other ones, by their ids.
    /// - Throws: ``StoreError`` when the store cannot be used; ``LedgerError``, `CancellationError`.
    func leaveUnnamed(of machines: Set<String>) async throws {
        let result = await Result {
            let read = Dictionary(uniqueKeysWithValues: machines.map { ($0, false) })
            let complete = try await catalogs.read(read, asksAll: true).complete
            try await ledger { try $0.leaveUnnamed(to: complete) }
        }
        try await ledger.finish { try $0.endOtherPlaces() }
        try result.get()
    }
}
