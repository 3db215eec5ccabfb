import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

/// Bringing photos back: what it would cost, the order, and what became of it.
extension GallerySite {
    /// Photos that one order may name.
    static let mostPhotos = 1_000
    /// In dollars.
    static let cent = 0.01

    /// What is to come back: photos, and a vacation by its number.
    private struct Wanted {
        let photos: [OrderedPhoto]
        let vacation: VacationID?

        init(_ values: (String) -> [String]) {
            photos = values("photo").compactMap(OrderedPhoto.init)
            vacation = values("vacation").first.flatMap { Int64($0) }.map(VacationID.init)
        }
    }

    func offer(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        guard request.query("all") == "shown" else { return try await offer(Wanted(request.queries), session) }
        let now = time.now()
        let ids = try await timelinePage(TimelineFilter(request), request).items
            .filter { $0.canBeRestored(at: now) }.compactMap { $0.md5?.description }
        return try await offer(Wanted { $0 == "photo" ? ids : [] }, session)
    }

    /// A selection may be longer than an address can be.
    func offer(_ form: WebForm, _ session: String) async throws -> WebResponse {
        try await offer(Wanted(form.all), session)
    }

    /// What it would cost and take, before anything is asked for.
    /// - Parameters:
    ///   - tier: that was chosen; `nil` for the configured one.
    ///   - change: why it is shown again.
    private func offer(
        _ wanted: Wanted, _ session: String, tier: RestoreTier? = nil, because change: String? = nil
    ) async throws -> WebResponse {
        guard wanted.photos.count <= Self.mostPhotos else {
            return page(
                400, "Too many at once",
                "One order takes at most \(Quantities.counted(Self.mostPhotos, "photo")): choose fewer, or bring a whole "
                    + "vacation back.", session: session)
        }
        let names = try await names(wanted)
        guard !names.isEmpty else { return nothingToRestore(session) }
        let restores = Restores(try await services.restores(workspace), for: .reading)
        let proposal: RestoreProposal
        do {
            proposal = try await restores.propose(
                RestoreWish(names: names, tier: .tier(tier ?? workspace.settings.restore.tier)))
        } catch is CommandFailure {
            // Not every class has the configured tier; each has this one.
            proposal = try await restores.propose(RestoreWish(names: names, tier: .tier(.standard)))
        }
        guard !proposal.candidates.isEmpty else { return nothingToRestore(session) }
        let places = try await places()
        let content = SitePage.Offer(
            photos: wanted.photos.map(\.description), vacation: wanted.vacation.map { "\($0.rawValue)" },
            summary: summary(of: proposal),
            tiers: tiers(of: proposal, restores), unpriced: proposal.estimate.unpriced.map(\.rawValue),
            remarks: [change].compactMap(\.self) + remarks(on: proposal)
                + proposal.problems.map { places.removed(from: "Left out: \($0)") })
        return page("Bring photos back", .restores, session, .offer(content))
    }

    private func nothingToRestore(_ session: String) -> WebResponse {
        page(
            404, "Nothing to bring back",
            "None of these photos waits in the archive: they can be read, are on their way, or are on this disk.",
            session: session)
    }

    private func summary(of proposal: RestoreProposal) -> String {
        let photos = Quantities.counted(proposal.candidates.count, "photo")
        let days = Quantities.counted(workspace.settings.restore.days, "day")
        let bytes = proposal.candidates.reduce(Int64(0)) { $0 + $1.size }
        return "\(photos) of the archive, \(Quantities.bytes(bytes)), can be read for \(days) then."
    }

    /// What whoever pays has to know besides.
    func remarks(on proposal: RestoreProposal) -> [String] {
        var remarks: [String] = []
        if !proposal.estimate.unpriced.isEmpty {
            let classes = proposal.estimate.unpriced.map(\.rawValue).joined(separator: ", ")
            remarks.append("Not in the price, because no price is known: what is in \(classes).")
        }
        if proposal.plan.groups.contains(where: \.mayEndBeforeReady) {
            remarks.append(
                "The days count from now: they may be over before the photos are there. restore.days says how many.")
        }
        return remarks
    }

    private func tiers(of proposal: RestoreProposal, _ restores: Restores) -> [SitePage.Offer.Tier] {
        let capabilities = restores.services.store.capabilities
        return proposal.options.map { option in
            let price = Quantities.aboutDollars(option.estimate.totalUSD)
            return SitePage.Offer.Tier(
                value: option.tier.rawValue, label: option.tier.rawValue.capitalized,
                price: capabilities.lifecycle == .byAgent
                    ? "nothing" : option.estimate.unpriced.isEmpty ? price : "\(price) and what is not known",
                dollars: "\(option.estimate.totalUSD)",
                // The store's own word, where it has one.
                wait: (capabilities.restoreDuration ?? option.estimate.hours.map { .seconds($0 * 3_600) })
                    .map(Quantities.span) ?? "not known",
                isChosen: option.tier == proposal.tier)
        }
    }

    func orderRestore(_ form: WebForm, _ session: String) async throws -> WebResponse {
        guard let tier = form["tier"].flatMap({ RestoreTier(rawValue: $0) }),
            let shown = form["price-\(tier.rawValue)"].flatMap({ Double($0) })
        else {
            return page(
                400, "No speed was chosen", "Go back, and choose how the photos are to come back.", session: session)
        }
        let wanted = Wanted(form.all)
        let names = try await names(wanted)
        guard !names.isEmpty, wanted.photos.count <= Self.mostPhotos else { return nothingToRestore(session) }
        let restores = Restores(try await services.restores(workspace), for: .reading)
        let proposal = try await restores.propose(RestoreWish(names: names, tier: .tier(tier), isAgreed: true))
        // Nobody pays what nobody was shown: classes and prices may have changed since.
        let unpriced = Set(proposal.estimate.unpriced.map(\.rawValue))
        guard proposal.estimate.totalUSD <= shown + Self.cent / 2, unpriced.isSubset(of: form.all("unpriced")) else {
            return try await offer(
                wanted, session, tier: tier, because: "The price has changed: nothing was requested yet.")
        }
        try restores.requireLimit(proposal)
        _ = try await restores.request(proposal)
        return Self.redirect(to: "/restores")
    }

    /// The keys of what can be brought back of these photos, and the vacation.
    private func names(_ wanted: Wanted) async throws -> [String] {
        let (keys, now) = (keys, time.now())
        return try await ledger { ledger in
            var names: Set<String> = []
            for photo in wanted.photos.prefix(Self.mostPhotos) {
                let items = try ledger.timeline(of: photo.md5, storedAs: try keys.photo(PhotoID(photo.md5)))
                let object =
                    photo.isOriginal
                    ? try items.originalToRestore(in: ledger, at: now) : items.objectToRestore(at: now)
                if let object { names.insert(object.key.rawValue) }
            }
            if let id = wanted.vacation, let vacation = try ledger.vacationContent(id) {
                // What is on this disk need not come back.
                for photo in vacation.photos where !photo.state.isOnDisk {
                    if let object = photo.object, object.canBeRestored(at: now) { names.insert(object.key.rawValue) }
                }
            }
            return names.sorted()
        }
    }
}

/// A photo as a form or a link names it: the id of its page, and `.original` behind it where its own bytes are meant.
struct OrderedPhoto: Hashable, Sendable, CustomStringConvertible {
    private static let mark = ".original"

    let md5: MD5Digest
    let isOriginal: Bool

    init(_ md5: MD5Digest, isOriginal: Bool = false) { (self.md5, self.isOriginal) = (md5, isOriginal) }

    init?(_ text: String) {
        isOriginal = text.hasSuffix(Self.mark)
        guard let md5 = MD5Digest(hex: isOriginal ? String(text.dropLast(Self.mark.count)) : text) else { return nil }
        self.md5 = md5
    }

    var description: String { "\(md5)\(isOriginal ? Self.mark : "")" }
}

extension TimelineItem {
    /// Nothing has to be brought back of what is on this disk.
    var isOnDisk: Bool {
        if case .photo(let photo) = source { photo.state.isOnDisk } else { false }
    }

    func canBeRestored(at now: Date) -> Bool { !isOnDisk && (object?.canBeRestored(at: now) ?? false) }
}

extension [TimelineItem] {
    /// What is kept of the photo's own bytes, whole.
    func original(in ledger: Ledger) throws(LedgerError) -> ObjectRecord? {
        for item in self {
            if let key = item.object?.key, let original = try ledger.original(of: key) { return original }
        }
        return nil
    }

    /// The same where it has to come back, as no file on this disk has these bytes.
    func originalToRestore(in ledger: Ledger, at now: Date) throws(LedgerError) -> ObjectRecord? {
        guard !contains(where: \.isOnDisk), let original = try original(in: ledger) else { return nil }
        return original.canBeRestored(at: now) ? original : nil
    }

    /// What has to come back so that a photo can be seen, of all that has its bytes: one object, and none where another can be
    /// read.
    func objectToRestore(at now: Date) -> ObjectRecord? {
        guard !contains(where: { $0.isOnDisk || $0.object?.canBeRead(at: now) ?? false }) else { return nil }
        return lazy.compactMap(\.object).first { $0.canBeRestored(at: now) }
    }
}

/// The parts of restores and shares, opened with the first order and kept.
final class OrderServices: Sendable {
    private let opened = Lock<ShareServices?>(nil)
    private let turns = Slots(1)

    func restores(_ workspace: Workspace) async throws -> RestoreServices { try await shares(workspace).restores }

    func shares(_ workspace: Workspace) async throws -> ShareServices {
        try await turns.withSlot {
            if let services = opened.withLock({ $0 }) { return services }
            let services = try ShareServices(try await RestoreServices(workspace, access: .writes))
            opened.withLock { $0 = services }
            return services
        }
    }
}

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
