import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// What became of orders to bring photos back.
extension GallerySite {
    private static let mostSuggested = 3

    func restores(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        let cursor = request.query("before").flatMap { Int64($0) }.map(RestoreJobID.init(rawValue:))
        let now = workspace.time.now()
        var isFree = false
        if case .directory = workspace.settings.store { isFree = true }
        let found = try await ledger { try $0.restoreJobs(before: cursor, limit: Self.itemsOfPage + 1) }
        let jobs = found.prefix(Self.itemsOfPage)
        let rows = jobs.map { JobReport($0) }.map { job in
            var facts = ["\(Quantities.counted(job.items, "photo")), \(Quantities.bytes(job.bytes))"]
            if !isFree, let cost = job.costUSD { facts.append(Quantities.aboutDollars(cost)) }
            if let readyAt = job.readyAt, [.sending, .retrieving].contains(job.state) {
                facts.append("available by \(Quantities.time(readyAt))")
            }
            if let expiresAt = job.expiresAt, job.state != .expired {
                facts.append("available until \(Quantities.time(expiresAt))")
            }
            return SitePage.Listing.Row(
                title: "Restore \(job.jobId), \(Quantities.ago(job.requestedAt, now: now))", state: job.state.words,
                facts: facts, link: "/restores/\(job.jobId)",
                progress: [.sending, .retrieving].contains(job.state) ? .init(job.done, of: job.items) : nil)
        }
        let goesOn = rows.contains { $0.progress != nil }
        let suggested = isReadOnly || goesOn || cursor != nil ? [] : try await suggestions(at: now)
        return page(
            "Restores", .restores, session,
            .list(
                .init(
                    rows: suggested + rows, whenEmpty: "Nothing was brought back from the archive yet.",
                    next: found.count > jobs.count ? jobs.last.map { "/restores?before=\($0.job.id.rawValue)" } : nil)),
            goesOn: goesOn)
    }

    /// Albums that may be wanted back, with what each would cost.
    private func suggestions(at now: Date) async throws -> [SitePage.Listing.Row] {
        let settings = workspace.settings.restore
        // It reads the file of prices.
        let prices = try await disk.run { [workspace] in try workspace.installation.prices() }
        let found = try await RestoreSuggestions(
            ledger: ledger, prices: prices, tier: settings.tier, days: settings.days
        ).find(at: now, limit: Self.mostSuggested)
        let vacations = try await ledger { try $0.vacations() }
        return found.map { suggestion in
            let name = suggestion.folder.lastComponent?.string ?? ""
            let vacation = vacations.first { $0.folder == suggestion.folder }
            return SitePage.Listing.Row(
                title: name.escapingControls, state: "you may want it back",
                facts: [SuggestionReport.Album(suggestion).sentence],
                links: [
                    vacation.map { .init("Bring back", "/restore?vacation=\($0.id.rawValue)") }
                        ?? .init("Show its photos", "/?state=archived&q=\("/\(name)/".uriEncoded())")
                ])
        }
    }

    /// One of them, with its photos.
    func restoreJob(_ id: String, _ request: WebRequest, _ session: String) async throws -> WebResponse {
        let after = request.query("after").flatMap { Int64($0) } ?? 0
        let found = try await ledger { ledger -> (RestoreJobSummary, [(item: RestoreItem, md5: MD5Digest?)])? in
            guard let number = Int64(id), let job = try ledger.restoreJob(RestoreJobID(rawValue: number)) else {
                return nil
            }
            let items = try ledger.restoreItems(of: job.job.id, after: after, limit: Self.itemsOfPage + 1)
            return (job, try items.map { ($0, try ledger.object($0.key)?.md5) })
        }
        guard let (summary, items) = found else { return notFound("There is no such restore.", session) }
        let (job, places) = (JobReport(summary), try await places())
        var facts: [SitePage.Fact] = [
            .init("State", job.state.words),
            .init("Requested", "\(Quantities.time(job.requestedAt)) by \(job.requestedBy.escapingControls)"),
            .init(
                "Photos",
                "\(Quantities.count(job.done)) of \(Quantities.count(job.items)), \(Quantities.bytes(job.bytes))"),
        ]
        if job.failed > 0 { facts.append(.init("Failed", Quantities.count(job.failed))) }
        if job.output != nil { facts.append(.init("Saved", Quantities.count(job.saved))) }
        let shown = items.prefix(Self.itemsOfPage)
        let rows = shown.map { item, md5 in
            // Of a path the name alone: no page tells where things lie.
            let name = item.path?.lastComponent?.string ?? String(item.key.lastSegment)
            var lines = [Quantities.bytes(item.size)]
            if let remark = item.remark { lines.append(places.removed(from: remark.escapingControls)) }
            if item.state == .restored, let until = item.expiresAt {
                lines.append("available until \(Quantities.time(until))")
            }
            return SitePage.Listing.Row(
                title: name.escapingControls, state: item.state.words(isArchived: item.storageClass.isArchive),
                facts: lines, link: md5.map { "/photo/\($0)" }, picture: md5.map { "/thumbnail/\($0)" })
        }
        return page(
            "Restore \(job.jobId)", .restores, session,
            .list(
                .init(
                    facts: facts, rows: Array(rows), whenEmpty: "There are no further photos.",
                    next: items.count > shown.count
                        ? shown.last.map { "/restores/\(job.jobId)?after=\($0.item.id)" } : nil)),
            goesOn: [.sending, .retrieving].contains(job.state))
    }
}

extension RestoreItemState {
    /// - Parameter isArchived: else it could be read all along.
    fileprivate func words(isArchived: Bool) -> String {
        switch self {
        case .planned: "to be requested"
        case .retrieving: "⏳ on its way back"
        case .restored: isArchived ? "✨ restored" : "readable"
        case .failed: "⚠️ failed"
        case .expired: "❄️ archived again"
        }
    }
}

extension JobReport.State {
    fileprivate var words: String {
        switch self {
        case .sending: "being requested"
        case .retrieving: "in progress"
        case .saving: "being saved"
        case .ready: "available"
        case .partlyReady: "partly available"
        case .failed: "failed"
        case .expired: "over"
        }
    }
}
