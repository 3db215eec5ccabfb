import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPages
import SyncSystem
import SystemPackage

/// Bringing photos back: what it would cost, the order, and what became of it.
extension GallerySite {
    /// Photos that one order may name.
    static let mostPhotos = 1_000

    /// What is to come back: photos by the ids of their pages, and a vacation by its number.
    private struct Wanted {
        let photos: [String]
        let vacation: VacationID?

        init(_ values: (String) -> [String]) {
            photos = values("photo").filter { MD5Digest(hex: $0) != nil }
            vacation = values("vacation").first.flatMap { Int64($0) }.map(VacationID.init)
        }
    }

    func offer(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        try await offer(Wanted(request.queries), session)
    }

    /// A selection may be longer than an address can be.
    func offer(_ form: WebForm, _ session: String) async throws -> WebResponse {
        try await offer(Wanted(form.all), session)
    }

    /// What it would cost and take, before anything is asked for.
    /// - Parameter change: why it is shown again.
    private func offer(_ wanted: Wanted, _ session: String, because change: String? = nil) async throws -> WebResponse {
        guard wanted.photos.count <= Self.mostPhotos else {
            return page(
                400, "Too many at once",
                "One order takes at most \(Quantities.counted(Self.mostPhotos, "photo")): choose fewer, or bring a whole vacation back.",
                session: session)
        }
        let names = try await names(wanted)
        guard !names.isEmpty else {
            return page(
                404, "Nothing to bring back", "None of these photos waits in the archive: see their state.",
                session: session)
        }
        let orders = Restores(try await desk.restores(workspace), workspace, for: .reading)
        let proposal: RestoreProposal
        do {
            proposal = try await orders.propose(
                RestoreWish(names: names, tier: .tier(workspace.settings.restore.tier)))
        } catch is CommandFailure {
            // Not every class has the configured tier; each has this one.
            proposal = try await orders.propose(RestoreWish(names: names, tier: .tier(.standard)))
        }
        guard !proposal.candidates.isEmpty else {
            return page(
                409, "Nothing to bring back", "These photos can be read already, or are on their way.", session: session
            )
        }
        let places = try await places()
        let content = SitePage.Offer(
            photos: wanted.photos, vacation: wanted.vacation.map { "\($0.rawValue)" }, summary: summary(of: proposal),
            tiers: try await tiers(of: proposal, orders),
            remarks: [change].compactMap(\.self) + proposal.problems.map { places.removed(from: "Left out: \($0)") })
        return page("Bring photos back", .restores, session, .offer(content))
    }

    private func summary(of proposal: RestoreProposal) -> String {
        let photos = Quantities.counted(proposal.candidates.count, "photo")
        let days = Quantities.counted(workspace.settings.restore.days, "day")
        return "\(photos) of the archive can be read for \(days) then."
    }

    private func tiers(of proposal: RestoreProposal, _ orders: Restores) async throws -> [SitePage.Offer.Tier] {
        let isFree = orders.parts.store.capabilities.lifecycle == .byAgent
        // The store's own word, where it has one.
        let duration = orders.parts.store.capabilities.restoreDuration
        return proposal.options.map { option in
            SitePage.Offer.Tier(
                value: option.tier.rawValue, label: option.tier.rawValue.capitalized,
                price: isFree ? "nothing" : Quantities.aboutDollars(option.estimate.totalUSD),
                dollars: "\(option.estimate.totalUSD)",
                wait: (duration ?? option.estimate.hours.map { .seconds($0 * 3_600) }).map(Quantities.span)
                    ?? "not known",
                isChosen: option.tier == proposal.tier)
        }
    }

    func orderRestore(_ form: WebForm, _ session: String) async throws -> WebResponse {
        guard let tier = form["tier"].flatMap({ RestoreTier(rawValue: $0) }),
            let shown = form["price-\(tier.rawValue)"].flatMap({ Double($0) })
        else {
            return page(400, "No speed was chosen", "Go back, and choose how the photos are to come back.")
        }
        let wanted = Wanted(form.all)
        let names = try await names(wanted)
        guard !names.isEmpty, wanted.photos.count <= Self.mostPhotos else {
            return page(404, "Not found", "None of these photos is in the archive.")
        }
        let orders = Restores(try await desk.restores(workspace), workspace, for: .reading)
        let proposal = try await orders.propose(RestoreWish(names: names, tier: .tier(tier), isAgreed: true))
        // Nobody pays what nobody was shown: classes and prices may have changed since.
        guard proposal.estimate.totalUSD <= shown + 0.005 else {
            return try await offer(wanted, session, because: "The price has changed: nothing was requested yet.")
        }
        try orders.requireLimit(proposal)
        _ = try await orders.request(proposal)
        return WebResponse(303, headers: [.init("Location", "/restores")] + Self.security)
    }

    /// The keys of what can be brought back of these photos, and the vacation.
    private func names(_ wanted: Wanted) async throws -> [String] {
        var names: [String] = []
        for id in wanted.photos.prefix(Self.mostPhotos) {
            guard let md5 = MD5Digest(hex: id) else { continue }
            names += try await items(md5).compactMap(\.object).filter { $0.canBeRestored }.map(\.key.rawValue)
        }
        if let id = wanted.vacation, let vacation = try await ledger({ try $0.vacation(id) }) {
            names.append(vacation.folder.string)
        }
        return Array(Set(names)).sorted()
    }

    func restores(_ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        let jobs = try await ledger { ledger in
            _ = try ledger.expireRestores(at: now)
            return try ledger.restoreJobs(limit: 100).map { JobReport($0) }
        }
        let rows = jobs.map { job in
            var facts = ["\(Quantities.counted(job.items, "photo")), \(Quantities.bytes(job.bytes))"]
            if let cost = job.costUSD { facts.append(Quantities.aboutDollars(cost)) }
            if let readyAt = job.readyAt, [.sending, .retrieving].contains(job.state) {
                facts.append("available by \(Quantities.time(readyAt))")
            }
            if let expiresAt = job.expiresAt, job.state != .expired {
                facts.append("available until \(Quantities.time(expiresAt))")
            }
            return SitePage.Listing.Row(
                title: "Restore \(job.jobId), \(Quantities.ago(job.requestedAt, now: now))", state: job.state.words,
                facts: facts, progress: [.sending, .retrieving].contains(job.state) ? (job.done, job.items) : nil)
        }
        return page(
            "Restores", .restores, session,
            .list(.init(rows: rows, whenEmpty: "Nothing was brought back from the archive yet.")))
    }
}

extension ObjectRecord {
    /// It is archived, whole, and nobody has asked for it.
    var canBeRestored: Bool { storageClass.isArchive && restore == .none && problem == nil }
}

/// The parts of restores and shares, opened with the first order and kept.
final class OrderDesk: Sendable {
    private let opened = Mutex<ShareServices?>(nil)
    private let turns = KeyedLock<Int>()

    /// `nil` before the first order.
    var inUse: ShareServices? { opened.withLock { $0 } }

    func restores(_ workspace: Workspace) async throws -> RestoreServices { try await shares(workspace).restores }

    func shares(_ workspace: Workspace) async throws -> ShareServices {
        try await turns.withKey(0) {
            if let services = opened.withLock({ $0 }) { return services }
            let services = try ShareServices(workspace, try await RestoreServices(workspace, access: .writes))
            opened.withLock { $0 = services }
            return services
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
