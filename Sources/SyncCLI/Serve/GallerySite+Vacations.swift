import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// Vacations, as cards.
extension GallerySite {
    func vacations(_ session: String) async throws -> WebResponse {
        let (records, covers, open) = try await ledger { ledger in
            let records = try ledger.vacations()
            return (
                records, try records.map { try ledger.coverOfVacation($0.id) },
                try ledger.unendedShares().filter(\.state.isOpen)
            )
        }
        let shares = Dictionary(grouping: open, by: \.folder)
        let differences = try await ShareReview(ledger: ledger, place: .ledger).liveShares()
        let rows = zip(records, covers).map { vacation, cover in
            let shares = shares[vacation.folder] ?? []
            let unshared = shares.compactMap { differences[$0.id]?.total }.max() ?? 0
            return card(vacation, cover: cover, shares: shares, unshared: unshared)
        }
        return page(
            "Vacations", .vacations, session,
            .list(.init(rows: rows, whenEmpty: "No vacations yet: each folder in a folder of kind vacations is one.")),
            follows: true)
    }

    private func card(
        _ vacation: VacationRecord, cover: MD5Digest?, shares: [ShareRecord], unshared: Int
    ) -> SitePage.Listing.Row {
        let name = vacation.folder.lastComponent?.string ?? ""
        let total = vacation.waiting + vacation.uploaded + vacation.failed + vacation.missing
        var facts = ["\(Quantities.counted(total, "photo"))"]
        if let details = vacation.lookedDetails {
            facts.insert("\(details.startDate) to \(details.endDate)", at: 0)
        }
        if vacation.failed > 0 { facts.append("\(Quantities.count(vacation.failed)) cannot be stored") }
        if vacation.missing > 0 { facts.append("\(Quantities.count(vacation.missing)) no longer on this disk") }
        if !shares.isEmpty { facts.append("shared") }
        if unshared > 0 {
            facts.append("\(Quantities.counted(unshared, "photo is", plural: "photos are")) not as they are shared")
        }
        var links = shares.map { SitePage.Listing.Link("See the share", "/shares/\($0.id)") }
        if !isReadOnly {
            links.append(.init(shares.isEmpty ? "Share" : "Share anew", "/vacations/\(vacation.id.rawValue)/share"))
            if vacation.missing > vacation.lost {
                links.append(.init("Bring back", "/restore?vacation=\(vacation.id.rawValue)"))
            }
        }
        return SitePage.Listing.Row(
            title: vacation.lookedDetails?.location ?? name,
            state: vacation.waiting > 0
                ? "\(Quantities.count(vacation.waiting)) waiting"
                : vacation.failed + vacation.lost > 0 ? "not all stored" : "stored", facts: facts,
            link: "/?kind=vacations&q=\("/\(name)/".uriEncoded())",
            progress: vacation.waiting > 0 ? .init(total - vacation.waiting, of: total) : nil, links: links,
            picture: cover.map { "/thumbnail/\($0)" })
    }
}
