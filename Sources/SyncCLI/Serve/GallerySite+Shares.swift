import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncQR
import SystemPackage

/// What others see: sharing a vacation by looking, and taking it back.
extension GallerySite {
    // MARK: Shares

    /// Photos that are named one by one.
    private static let mostNamed = 20

    func share(_ id: String, _ request: WebRequest, _ session: String) async throws -> WebResponse {
        guard let id = ShareID(id), let share = try await ledger({ try $0.share(id) }) else {
            return notFound("There is no such share on this machine.", session)
        }
        let (photos, places) = (try await ledger { try $0.sharePhotos(id) }, try await places())
        var facts: [SitePage.Fact] = [
            .init("Photos", Quantities.count(share.photoCount)),
            .init("Days", "\(share.startDate) to \(share.endDate)"),
        ]
        if let name = share.sharedBy { facts.append(.init("From", name.escapingControls)) }
        if share.state.isOpen { facts.append(.init("Until", Quantities.time(share.expiresAt))) }
        if share.state.isOpen, share.takesGuests {
            facts.append(.init("Guests", "may add photos: nobody sees them before you keep them"))
        }
        let failed = photos.filter { $0.position != nil }.compactMap { photo in
            photo.failure.map {
                "\(photo.path.lastComponent?.string.escapingControls ?? ""): \(places.removed(from: $0))"
            }
        }
        if !failed.isEmpty { facts.append(.init("Left out", failed.prefix(Self.mostNamed).joined(separator: "; "))) }
        if let problem = share.problem { facts.append(.init("Why not yet", places.removed(from: problem))) }
        let total = photos.count
        let sent = photos.count { $0.copy != nil || $0.isFinal }
        let link = share.state == .live ? link(to: share, asked: request) : nil
        let audience = link.map { self.reach(of: $0, share.id) }
        // Another machine's camera is to read it.
        let code = audience?.isBeyond == true ? link.flatMap { QRCode($0) } : nil
        let content = SitePage.Share(
            id: "\(share.id)", state: share.state.words, facts: facts, link: link,
            send: audience?.isBeyond == true ? link.map { send(share, $0) } ?? [] : [],
            linkEnd: audience?.isBeyond == true ? share.link.map { ShareView.end(of: share, $0) } : nil,
            code: code.map { .init(side: $0.side, path: $0.path) }, reach: audience?.words ?? "",
            canBeEnded: !isReadOnly && share.state.isOpen,
            progress: share.state == .preparing && total > 0 ? .init(sent, of: total) : nil,
            guests: try await guestForm(of: id))
        return page(
            share.location.escapingControls, .shares, session, .share(content),
            goesOn: share.state == .preparing || share.state.isEnding)
    }

    /// What a person sends the link with.
    private func send(_ share: ShareRecord, _ link: String) -> [SitePage.Listing.Link] {
        var known: [SitePage.Listing.Link] = []
        let recipient = share.recipient.flatMap { ShareRecipient(note: $0) }
        if let recipient, let message = ShareMessage.address(share) {
            known.append(.init("\(recipient.channel.title) to \(recipient.person)", message))
        }
        return known + ShareMessage.addresses(share, link).map { .init($0.channel.title, $0.address) }
    }

    /// What a browser opens: under the address that this one has asked at, where there is no better one.
    private func link(to share: ShareRecord, asked request: WebRequest) -> String? {
        if let link = share.link?.url, WebLink(link) != nil { return link }
        guard sharedFiles != nil else { return nil }
        return "http://\(request.header("host") ?? "localhost")/s/\(share.id)/"
    }

    /// Who can open a link, in words, and whether that is anybody but this machine.
    private func reach(of link: String, _ id: ShareID) -> (words: String, isBeyond: Bool) {
        guard link.hasSuffix("/s/\(id)/"), sharedFiles != nil else {
            return ("Everybody who has the link can see these photos, and nobody else.", true)
        }
        let host = WebLink(link)?.host ?? ""
        if host == "localhost" || ListenAddress(host: host, port: 0)?.isLoopback == true {
            return (
                "Only this machine: let the gallery listen beyond it (serve.listen, serve.base_url) for others to see them.",
                false
            )
        }
        return ("Everybody who has the link and can reach this machine by it.", true)
    }

    func revoke(_ id: String, _ session: String) async throws -> WebResponse {
        guard let id = ShareID(id), let share = try await ledger({ try $0.share(id) }) else {
            return notFound("There is no such share on this machine.", session)
        }
        let shareServices = try await services.shares(workspace)
        do {
            if !share.state.isOver { try await shareServices.remover.run(id, .revoked) }
        } catch ShareError.inOtherHands {
            return page(
                409, "Another moment", "This share is being worked on: try again in a few seconds.", session: session)
        }
        return Self.redirect(to: "/shares/\(id)")
    }

    // MARK: Sharing

    /// What is chosen of a vacation, and how it is to be shared.
    private struct ShareChoice {
        /// MD5s of photos, in hexadecimal; `nil`: all that can be.
        var photos: Set<String>?
        /// Empty: no name is to be told.
        var sharedBy: String?
        var quality = ShareQuality.reduced
        var days: Int?
        /// In dollars, what was shown for bringing photos back.
        var price: Double?
        /// The open share of which it was told that it changes by this.
        var update: String?
        /// `nil` where nobody was asked yet.
        var takesGuests: Bool?
        /// As many as a share takes are to be chosen, whatever was.
        var ticksAll = false

        init() {}

        init(_ form: WebForm) {
            ticksAll = form["tick"] == "all"
            photos = form["tick"] == "none" ? [] : Set(form.all("photo"))
            sharedBy = form["by"].map { ShareManifestRules.plain($0) } ?? ""
            quality = form["quality"].flatMap { ShareQuality(rawValue: $0) } ?? .reduced
            days = form["days"].flatMap { Int($0) }
            price = form["price"].flatMap { Double($0) }
            update = form["update"]
            takesGuests = form["guests"] == "yes"
        }
    }

    func shareForm(_ id: String, _ session: String) async throws -> WebResponse {
        guard let vacation = try await vacation(id) else { return notFound("There is no such vacation.", session) }
        return try await shareForm(vacation, ShareChoice(), session)
    }

    private func vacation(_ id: String) async throws -> Vacation? {
        guard let number = Int64(id), let record = try await ledger({ try $0.vacation(VacationID(rawValue: number)) })
        else { return nil }
        do {
            return try await services.shares(workspace).finder.vacation(in: record.folder)
        } catch let error as VacationReadError {
            throw CommandFailure.failed("\(error)")
        }
    }

    /// - Parameters:
    ///   - remark: why it is shown again.
    ///   - restore: what has to come back from the archive first.
    ///   - change: what an open share would become.
    private func shareForm(
        _ vacation: Vacation, _ choice: ShareChoice, _ session: String, because remark: String? = nil,
        after restore: RestoreProposal? = nil, updating change: ShareProposal? = nil
    ) async throws -> WebResponse {
        let shareServices = try await services.shares(workspace)
        let (sharer, open) = try await ledger { ledger in
            (try ledger.sharer(), try ledger.unendedShares().filter { $0.folder == vacation.folder && $0.state.isOpen })
        }
        var remarks = [remark].compactMap(\.self)
        var photos = vacation.photos.compactMap { photo in photo.md5.map { (md5: $0, name: photo.name) } }
        if photos.count < vacation.photos.count {
            let unread = Quantities.counted(vacation.photos.count - photos.count, "photo")
            remarks.append("\(unread) not read yet: they can be shared when they are stored.")
        }
        var isAllChosen = choice.photos == nil
        let most = workspace.settings.share.maximumPhotos
        let places = try await places()
        do {
            // Files that nobody has read yet are read for no page.
            var known = vacation
            known.photos.removeAll { $0.md5 == nil }
            let proposal = try await shareServices.planner.propose(ShareOrder(vacation: known, quality: choice.quality))
            photos = proposal.items.map { ($0.md5, $0.photo.name) }
            remarks += proposal.notes.map { places.removed(from: $0.escapingControls) }
            remarks += proposal.skipped.map {
                "Left out: \($0.photo.name.escapingControls), \(places.removed(from: $0.reason.escapingControls))"
            }
        } catch let error as ShareError where error.asksToChoose {
            isAllChosen = false
            remarks.append(
                "These are more than one share takes (\(Quantities.counted(most, "photo"))): choose some of them.")
        } catch let error as ShareError {
            remarks.append(places.removed(from: "\(error)"))
        }
        let content = SitePage.ShareForm(
            vacation: "\(vacation.id.rawValue)",
            photos: photos.enumerated().map { index, photo in
                .init(
                    id: photo.md5.description, name: photo.name.escapingControls,
                    isChosen: choice.ticksAll
                        ? index < most : choice.photos?.contains(photo.md5.description) ?? isAllChosen)
            },
            sharedBy: choice.sharedBy ?? sharer ?? vacation.details.sharedBy ?? "",
            days: choice.days ?? workspace.settings.share.expireDays, isFull: choice.quality == .full,
            remarks: remarks,
            others: open.filter { $0.id != change?.existing?.id }.map {
                .init(
                    "\(Quantities.counted($0.photoCount, "photo")) until \(Quantities.time($0.expiresAt))",
                    "/shares/\($0.id)")
            }, update: change.flatMap(update), price: restore.map(price),
            canTakeGuests: shareServices.links.noGuests == nil,
            takesGuests: choice.takesGuests ?? open.contains(where: \.takesGuests),
            all: photos.count > most ? "Tick the first \(Quantities.count(most))" : "Tick all")
        return page("Share \(vacation.details.location.escapingControls)", .vacations, session, .shareForm(content))
    }

    /// What a proposal does to an open share, which others have the link of.
    private func update(by proposal: ShareProposal) -> SitePage.ShareForm.Update? {
        guard case .update(let added, let removed) = proposal.change, let share = proposal.existing else { return nil }
        var words = [
            "Who has the link of this share sees what is chosen now: \(Quantities.counted(added, "photo")) more, "
                + "\(Quantities.count(removed)) less."
        ]
        if share.expiresAt != proposal.expiresAt {
            words.append(
                "It ends at \(Quantities.time(proposal.expiresAt)) in place of \(Quantities.time(share.expiresAt)).")
        }
        return .init(share: "\(share.id)", text: words.joined(separator: " "))
    }

    private func price(of restore: RestoreProposal) -> SitePage.ShareForm.Price {
        let dollars = restore.estimate.totalUSD
        let photos = Quantities.counted(restore.candidates.count, "photo has", plural: "photos have")
        var price = Quantities.aboutDollars(dollars)
        if case .directory = workspace.settings.store { price = "nothing" }
        let words = ["\(photos) to come back from the archive first: that costs \(price)."]
        return .init(dollars: "\(dollars)", text: (words + remarks(on: restore)).joined(separator: " "))
    }

    /// Shares exactly what was seen and chosen.
    func orderShare(_ id: String, _ form: WebForm, _ session: String) async throws -> WebResponse {
        guard let vacation = try await vacation(id) else { return notFound("There is no such vacation.", session) }
        let choice = ShareChoice(form)
        // Nothing is shared by these buttons.
        if form["tick"] != nil { return try await shareForm(vacation, choice, session) }
        do {
            return try await share(vacation, choice, session)
        } catch let error as ShareError {
            return try await shareForm(
                vacation, choice, session, because: try await places().removed(from: "\(error)"))
        }
    }

    private func share(_ vacation: Vacation, _ choice: ShareChoice, _ session: String) async throws -> WebResponse {
        func again(_ reason: String) async throws -> WebResponse {
            try await shareForm(vacation, choice, session, because: reason)
        }
        let shareServices = try await services.shares(workspace)
        let chosen = choice.photos ?? []
        guard let days = choice.days, (1...3_650).contains(days) else {
            return try await again("Say for how many days: 1 to 3650.")
        }
        guard !chosen.isEmpty else { return try await again("Choose at least one photo.") }
        var order = ShareOrder(
            vacation: vacation, quality: choice.quality, sharedBy: choice.sharedBy == "" ? nil : choice.sharedBy)
        order.isAnonymous = choice.sharedBy == ""
        order.takesGuests = choice.takesGuests
        try shareServices.requireGuestsCanCome(order)
        order.expiresAt = workspace.time.now().addingTimeInterval(Double(days) * 86_400)
        guard let proposal = try await proposal(order, sharing: chosen, shareServices) else {
            return try await again("The vacation has changed meanwhile: look at it again.")
        }
        let work = ShareSession(services: shareServices, order: proposal.order, asks: false, recipient: nil)
        let restore = try await work.restoreProposal(of: proposal.archived).flatMap { $0.candidates.isEmpty ? nil : $0 }
        if let restore, let useless = work.uselessness(of: restore, until: proposal.expiresAt) {
            return try await again(useless)
        }
        let update = update(by: proposal)
        let isPriceShown = restore.map { $0.estimate.totalUSD <= (choice.price ?? -1) + Self.cent / 2 } ?? true
        guard isPriceShown, update.map({ $0.share == choice.update }) ?? true else {
            return try await shareForm(vacation, choice, session, after: restore, updating: proposal)
        }
        if let restore { try Restores(shareServices.restores, for: .share).requireLimit(restore) }
        if proposal.change == .none, let existing = proposal.existing {
            return Self.redirect(to: "/shares/\(existing.id)")
        }
        let share = try await shareServices.planner.accept(proposal)
        // From here on it is carried out: what goes wrong is told on the share's page, or tried again.
        do {
            if let restore { try await work.carryOut(restore, for: share) }
        } catch let error as CommandFailure {
            workspace.logger.warning("share \(share): \(error)")
        } catch {
            try await shareServices.planner.release(share)
            throw error
        }
        try await shareServices.planner.release(share)
        if let name = order.sharedBy { try await ledger { try $0.rememberSharer(name) } }
        return Self.redirect(to: "/shares/\(share)")
    }

    /// - Returns: `nil` when it would not be just these photos that are shared.
    private func proposal(
        _ order: ShareOrder, sharing chosen: Set<String>, _ shareServices: ShareServices
    ) async throws -> ShareProposal? {
        func isExact(_ proposal: ShareProposal) -> Bool {
            Set(proposal.items.map(\.md5.description)) == chosen
        }
        if order.vacation.photos.allSatisfy({ $0.md5 != nil }) {
            do {
                let whole = try await shareServices.planner.propose(order)
                // What cannot be shared now is not to be shared one day, unseen.
                if isExact(whole), whole.refused.isEmpty { return whole }
            } catch let error as ShareError where error.asksToChoose {
                // Some of them can be shared.
            }
        }
        var order = order
        let numbers = order.vacation.photos.enumerated().filter { chosen.contains($0.element.md5?.description ?? "") }
        guard let selection = PhotoSelection(numbers.map { "\($0.offset)" }.joined(separator: ",")) else { return nil }
        order.selection = selection
        let part = try await shareServices.planner.propose(order)
        return isExact(part) ? part : nil
    }
}
