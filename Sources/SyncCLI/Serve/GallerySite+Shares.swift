import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages

/// What others see: sharing a vacation by looking, and taking it back.
extension GallerySite {
    // MARK: Shares

    func shares(_ session: String) async throws -> WebResponse {
        let (records, now) = (try await ledger { try $0.shares(limit: 100) }, workspace.time.now())
        let rows = records.map { share in
            var facts = ["\(share.startDate) to \(share.endDate)", Quantities.counted(share.photoCount, "photo")]
            if share.expiresAt > now, share.state.isOpen { facts.append("until \(Quantities.time(share.expiresAt))") }
            return SitePage.Listing.Row(
                title: share.location, state: share.state.words, facts: facts, link: "/shares/\(share.id)")
        }
        return page(
            "Shares", .shares, session,
            .list(
                .init(
                    rows: rows,
                    whenEmpty: "Nothing is shared. A vacation's card has a button for it, and so has sync-agent share.")
            ))
    }

    func share(_ id: String, _ session: String) async throws -> WebResponse {
        guard let id = ShareID(id), let share = try await ledger({ try $0.share(id) }) else {
            return page(404, "Not found", "There is no such share on this machine.", session: session)
        }
        let (photos, places) = (try await ledger { try $0.sharePhotos(id) }, try await places())
        var facts: [SitePage.Fact] = [
            .init("Photos", Quantities.count(share.photoCount)),
            .init("Days", "\(share.startDate) to \(share.endDate)"),
        ]
        if let name = share.sharedBy { facts.append(.init("From", name.escapingControls)) }
        if share.state.isOpen { facts.append(.init("Until", Quantities.time(share.expiresAt))) }
        if let problem = share.problem { facts.append(.init("Why not yet", places.removed(from: problem))) }
        let total = photos.count
        let sent = photos.count { $0.copy != nil || $0.isFinal }
        let content = SitePage.Share(
            id: "\(share.id)", state: share.state.words, facts: facts,
            link: share.state == .live ? link(to: share) : nil, reach: reach(of: share),
            canBeEnded: !isReadOnly && share.state.isOpen,
            progress: share.state == .preparing && total > 0 ? (sent, total) : nil)
        return page(share.location.escapingControls, .shares, session, .share(content))
    }

    /// What a browser opens.
    private func link(to share: ShareRecord) -> String? {
        if let link = share.link?.url, WebLink(link) != nil { return link }
        guard sharedFiles != nil else { return nil }
        let base = workspace.settings.serve.baseURL?.absoluteString ?? ""
        return (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/s/\(share.id)/"
    }

    /// Who can open the link, in words.
    private func reach(of share: ShareRecord) -> String {
        if sharedFiles == nil { return "Everybody who has the link can see these photos, and nobody else." }
        if workspace.settings.serve.baseURL != nil { return "Everybody who has the link and can reach this address." }
        return isLocal
            ? "Only this machine: let the gallery listen beyond it (serve.listen, serve.base_url) for others to see them."
            : "Everybody who has the link and can reach this machine."
    }

    func revoke(_ id: String, _ session: String) async throws -> WebResponse {
        guard let id = ShareID(id), let share = try await ledger({ try $0.share(id) }) else {
            return page(404, "Not found", "There is no such share on this machine.", session: session)
        }
        let parts = try await desk.shares(workspace)
        do {
            if !share.state.isOver { try await parts.ender.run(id, .revoked) }
        } catch ShareError.inOtherHands {
            return page(
                409, "Another moment", "This share is being worked on: try again in a few seconds.", session: session)
        }
        return WebResponse(303, headers: [.init("Location", "/shares/\(id)")] + Self.security)
    }

    // MARK: Sharing

    /// What is chosen of a vacation, and how it is to be shared.
    private struct ShareChoice {
        /// MD5s of photos, in hexadecimal; `nil`: all that can be.
        var photos: Set<String>?
        var sharedBy: String?
        var quality = ShareQuality.reduced
        var days: Int?
        /// In dollars, what was shown for bringing photos back.
        var price: Double?

        init() {}

        init(_ form: WebForm) {
            photos = Set(form.all("photo"))
            sharedBy = form["by"].map { ShareManifestRules.plain($0) }.flatMap { $0.isEmpty ? nil : $0 }
            quality = form["quality"].flatMap { ShareQuality(rawValue: $0) } ?? .reduced
            days = form["days"].flatMap { Int($0) }
            price = form["price"].flatMap { Double($0) }
        }
    }

    func shareForm(_ id: String, _ session: String) async throws -> WebResponse {
        guard let vacation = try await vacation(id) else { return noVacation(session) }
        return try await shareForm(vacation, ShareChoice(), session)
    }

    private func vacation(_ id: String) async throws -> Vacation? {
        guard let number = Int64(id), let record = try await ledger({ try $0.vacation(VacationID(rawValue: number)) })
        else { return nil }
        return try await desk.shares(workspace).finder.vacation(in: record.folder)
    }

    private func noVacation(_ session: String) -> WebResponse {
        page(404, "Not found", "There is no such vacation.", session: session)
    }

    /// - Parameters:
    ///   - remark: why it is shown again.
    ///   - restore: what has to come back from the archive first.
    private func shareForm(
        _ vacation: Vacation, _ choice: ShareChoice, _ session: String, because remark: String? = nil,
        after restore: RestoreProposal? = nil
    ) async throws -> WebResponse {
        let parts = try await desk.shares(workspace)
        var order = ShareOrder(vacation: vacation)
        order.usualSharer = try await ledger { try $0.sharer() } ?? vacation.details.sharedBy
        var remarks = [remark].compactMap(\.self)
        var photos: [(md5: MD5Digest, name: String)] = []
        var isAllChosen = choice.photos == nil
        do {
            let proposal = try await parts.desk.propose(order)
            photos = proposal.items.map { ($0.md5, $0.photo.name) }
            let places = try await places()
            remarks += proposal.notes.map { places.removed(from: $0.escapingControls) }
            remarks += proposal.skipped.map {
                "Left out: \($0.photo.name.escapingControls), \($0.reason.escapingControls)"
            }
        } catch let error as ShareError where error.asksToChoose {
            photos = vacation.photos.compactMap { photo in photo.md5.map { ($0, photo.name) } }
            isAllChosen = false
            remarks.append("These are more than one share takes: choose some of them.")
        }
        var price: SitePage.ShareForm.Price?
        if let restore {
            let dollars = restore.estimate.totalUSD
            price = .init(
                dollars: "\(dollars)",
                text:
                    "\(Quantities.counted(restore.candidates.count, "photo")) have to come back from the archive first: that costs "
                    + "\(Quantities.aboutDollars(dollars)).")
        }
        let content = SitePage.ShareForm(
            vacation: "\(vacation.id.rawValue)",
            photos: photos.map { photo in
                .init(
                    id: photo.md5.description, name: photo.name.escapingControls,
                    isChosen: choice.photos?.contains(photo.md5.description) ?? isAllChosen)
            },
            sharedBy: choice.sharedBy ?? order.usualSharer ?? "",
            days: choice.days ?? workspace.settings.share.expireDays,
            isFull: choice.quality == .full, remarks: remarks, price: price)
        return page("Share \(vacation.details.location.escapingControls)", .vacations, session, .shareForm(content))
    }

    /// Shares exactly what was seen and chosen.
    func orderShare(_ id: String, _ form: WebForm, _ session: String) async throws -> WebResponse {
        guard let vacation = try await vacation(id) else { return noVacation(session) }
        let (choice, parts) = (ShareChoice(form), try await desk.shares(workspace))
        let chosen = choice.photos ?? []
        guard let days = choice.days, (1...3_650).contains(days) else {
            return try await shareForm(vacation, choice, session, because: "Say for how many days: 1 to 3650.")
        }
        let numbers = vacation.photos.enumerated().filter { chosen.contains($0.element.md5?.description ?? "") }
        guard !chosen.isEmpty else {
            return try await shareForm(vacation, choice, session, because: "Choose at least one photo.")
        }
        guard Set(numbers.compactMap { $0.element.md5?.description }) == chosen else {
            return try await shareForm(
                vacation, choice, session, because: "The vacation has changed meanwhile: look at it again.")
        }
        var order = ShareOrder(vacation: vacation, quality: choice.quality, sharedBy: choice.sharedBy)
        order.usualSharer = try await ledger { try $0.sharer() } ?? vacation.details.sharedBy
        order.expiresAt = workspace.time.now().addingTimeInterval(Double(days) * 86_400)
        let whole = try? await parts.desk.propose(order)
        let proposal: ShareProposal
        if let whole, Set(whole.items.map(\.md5.description)) == chosen {
            proposal = whole
        } else {
            order.selection = PhotoSelection(numbers.map { "\($0.offset)" }.joined(separator: ","))
            proposal = try await parts.desk.propose(order)
        }
        let work = ShareSession(parts: parts, workspace: workspace, order: order, asks: false, recipient: nil)
        let restore = try await work.restoreProposal(of: proposal.archived)
        if let restore, !restore.candidates.isEmpty {
            if let useless = work.uselessness(of: restore, until: proposal.expiresAt) {
                return try await shareForm(vacation, choice, session, because: useless)
            }
            try Restores(parts.restores, workspace, for: .share).requireLimit(restore)
            guard let shown = choice.price, restore.estimate.totalUSD <= shown + 0.005 else {
                return try await shareForm(vacation, choice, session, after: restore)
            }
        }
        if proposal.change == .none, let existing = proposal.existing { return shareLocation(existing.id) }
        guard !proposal.items.isEmpty else {
            return try await shareForm(vacation, choice, session, because: "None of these photos can be shared.")
        }
        let share = try await parts.desk.accept(proposal)
        if let restore { try await work.carryOut(restore, for: share) }
        if let name = choice.sharedBy { try await ledger { try $0.rememberSharer(name) } }
        return shareLocation(share)
    }

    private func shareLocation(_ id: ShareID) -> WebResponse {
        WebResponse(303, headers: [.init("Location", "/shares/\(id)")] + Self.security)
    }
}

extension ShareState {
    fileprivate var words: String {
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
