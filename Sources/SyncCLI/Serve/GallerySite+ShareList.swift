import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

/// What others see, of this machine and of the user's other ones.
extension GallerySite {
    func shares(_ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        let records = try await ledger { ledger in
            let open = try ledger.unendedShares()
            let shown = Set(open.map(\.id))
            let all = open + (try ledger.shares(limit: 100).filter { !shown.contains($0.id) })
            return try all.map { share in
                (
                    share,
                    cover: try share.state.isOver ? nil : ledger.sharePhotos(share.id).first { $0.copy != nil }?.md5
                )
            }
        }
        let rows = records.map { share, cover in
            SitePage.Listing.Row(
                title: share.location, state: share.state.words,
                facts: facts(
                    days: (share.startDate, share.endDate), photos: share.photoCount, by: share.sharedBy,
                    until: share.state.isOpen ? share.expiresAt : nil, now),
                link: "/shares/\(share.id)", picture: cover.map { "/thumbnail/\($0)" })
        }
        let others = try await elsewhere.now(now) {
            let found = try await SharesElsewhere(workspace, within: .seconds(4)) { [store] in store }
            return .init(rows: await rowsElsewhere(found, now), problems: found.problems)
        }
        let places = try await places()
        return page(
            "Shares", .shares, session,
            .list(
                .init(
                    rows: rows + others.rows,
                    remarks: others.problems.map { places.removed(from: $0.escapingControls) },
                    whenEmpty: "Nothing is shared. A vacation's card has a button for it, and so has sync-agent share.")
            ), follows: true)
    }

    /// What a row says of a share, whosever it is.
    /// - Parameter end: `nil` for a share that is not open.
    private func facts(
        days: (first: CalendarDay, last: CalendarDay), photos: Int?, by name: String?, until end: Date?, _ now: Date
    ) -> [String] {
        var facts = ["\(days.first) to \(days.last)"]
        if let photos { facts.append(Quantities.counted(photos, "photo")) }
        if let end, end > now { facts.append("until \(Quantities.time(end))") }
        if let name { facts.append("from \(name.escapingControls)") }
        return facts
    }

    /// They are changed by their own machines, or by commands.
    private func rowsElsewhere(_ others: SharesElsewhere, _ now: Date) async -> [SitePage.Listing.Row] {
        var rows: [SitePage.Listing.Row] = []
        for share in others.shares.prefix(SharesElsewhere.mostShown) {
            var open: [SitePage.Listing.Link] = []
            if let link = await links.address(of: share, now: now)?.url, WebLink(link) != nil {
                open = [.init("Open", link)]
            }
            rows.append(
                .init(
                    title: share.location.escapingControls, state: share.state.words,
                    facts: facts(
                        days: (share.startDate, share.endDate), photos: share.photoCount, by: share.sharedBy,
                        until: share.state.isOpen ? share.expiresAt : nil, now)
                        + ["of the machine \(share.machineName.escapingControls)"], links: open))
        }
        return rows
    }
}

extension ShareState {
    var words: String {
        switch self {
        case .preparing: "being published"
        case .waiting: "waits for photos from the archive"
        case .live: "shared"
        case .revoking, .expiring: "being taken back"
        case .revoked: "taken back"
        case .expired: "over"
        }
    }
}
