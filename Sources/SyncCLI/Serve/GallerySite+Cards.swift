import FoundationEssentials
import SyncConfig
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
        if let details = vacation.checkedDetails {
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
            links.append(.init(shares.isEmpty ? "Share" : "Share again", "/vacations/\(vacation.id.rawValue)/share"))
            if vacation.missing > vacation.lost {
                links.append(.init("Bring back", "/restore?vacation=\(vacation.id.rawValue)"))
            }
        }
        return SitePage.Listing.Row(
            title: vacation.checkedDetails?.location ?? name,
            state: vacation.waiting > 0
                ? "\(Quantities.count(vacation.waiting)) waiting"
                : vacation.failed + vacation.lost > 0 ? "not all stored" : "stored", facts: facts,
            link: "/?kind=vacations&q=\("/\(name)/".uriEncoded())",
            progress: vacation.waiting > 0 ? .init(total - vacation.waiting, of: total) : nil, links: links,
            picture: cover.map { "/thumbnail/\($0)" })
    }
}

/// Generated images, as a grid that can be searched.
extension GallerySite {
    private static let projectsOfPage = 60

    func projects(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        let text = request.query("q").flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
        let status = request.query("status").flatMap { ProjectRecord.Status(argument: $0) }
        let filter = ProjectFilter(text: text, status: status)
        let entries = try await projectEntries()
        let found = entries.filter { filter.accepts($0.record) }
        let start = min(max(request.query("from").flatMap { Int($0) } ?? 0, 0), found.count)
        let shown = found[start...].prefix(Self.projectsOfPage)
        let (policy, now) = (policy, workspace.time.now())
        let badges = try await ledger { ledger in
            try shown.map { entry in
                try entry.image.map { try PhotoStatusText($0, policy: policy, in: ledger, now: now).badge?.symbol }
                    ?? nil
            }
        }
        let places = try await places()
        let rows = zip(shown, badges).map { entry, badge in
            var facts = [Quantities.day(entry.record.createdAt)]
            if entry.versions > 0 { facts.append(Quantities.counted(entry.versions, "earlier image")) }
            if let other = entry.project.duplicateOf { facts.append("the same image as \(other.escapingControls)") }
            if let reason = entry.reason { facts.append(places.removed(from: reason.escapingControls)) }
            let photo = entry.image?.md5 ?? entry.object?.md5
            return SitePage.Listing.Row(
                title: entry.name, state: [badge, entry.state.rawValue].compactMap(\.self).joined(separator: " "),
                facts: facts, link: "/projects/\(entry.record.id.uriEncoded())",
                picture: photo.map { "/thumbnail/\($0)" })
        }
        let end = start + shown.count
        let query = [("q", text), ("status", status?.rawValue), ("from", "\(end)")]
            .compactMap { name, value in value.map { "\(name)=\($0.uriEncoded())" } }.joined(separator: "&")
        let statuses = ProjectRecord.Status.allCases.map {
            SitePage.Timeline.Choice(value: $0.rawValue, label: $0.rawValue, isChosen: $0 == status)
        }
        let search = SitePage.Listing.Search(
            address: "/projects", text: text ?? "", label: "Name, template, id or request",
            filters: [
                .init(
                    name: "status", label: "Status",
                    choices: [.init(value: "", label: "All", isChosen: status == nil)] + statuses)
            ], isFiltered: text != nil || status != nil)
        return page(
            "Projects", .projects, session,
            .list(
                .init(
                    rows: Array(rows),
                    whenEmpty: entries.isEmpty
                        ? "No projects yet: they come with a folder of kind projects." : "No projects match.",
                    search: search, next: end < found.count ? "/projects?\(query)" : nil)))
    }

    /// None where no folder has any.
    private func projectEntries() async throws -> [ProjectEntry] {
        workspace.settings.watch.contains { $0.kind == .projects } ? try await workspace.projects() : []
    }

    func project(_ id: String, _ session: String) async throws -> WebResponse {
        guard let entry = try await projectEntries().first(where: { $0.record.id == id }) else {
            return notFound("There is no such project.", session)
        }
        let (versions, places) = (try await ledger { try $0.projectVersions(of: id) }, try await places())
        let record = entry.record
        var facts: [SitePage.Fact] = [
            .init("Template", record.templateName.escapingControls), .init("Made", Quantities.time(record.createdAt)),
            .init("Status", record.status.rawValue), .init("State", entry.state.rawValue),
        ]
        if let reason = entry.reason { facts.append(.init("Why", places.removed(from: reason.escapingControls))) }
        if let other = entry.project.duplicateOf { facts.append(.init("Same image as", other.escapingControls)) }
        if let request = record.requestID { facts.append(.init("Request", request.escapingControls)) }
        facts += versions.enumerated().map { number, object in
            .init(
                number == 0 ? "Earlier images" : "",
                "\(Quantities.time(object.storedAt)), \(Quantities.bytes(object.size)), \(object.storageClass.rawValue)"
            )
        }
        let photo = entry.image?.md5 ?? entry.object?.md5
        var items: [TimelineItem] = []
        var file: FilePath?
        if let photo {
            items = try await self.items(photo)
            file = try await self.file(of: photo, among: items)
        }
        let now = time.now()
        let isReadable = items.contains { $0.object?.canBeRead(at: now) ?? false }
        let content = SitePage.Photo(
            id: photo?.description ?? "", name: entry.name, badge: nil, state: entry.state.rawValue, facts: facts,
            places: [], hasPicture: file != nil || isReadable, hasThumbnail: photo != nil, isFilm: false,
            canBeRestored: !isReadOnly && items.objectToRestore(at: now) != nil,
            download: photo.flatMap {
                file != nil || storedCopy(of: $0, among: items) != nil ? "/photo/\($0)/file" : nil
            })
        return page(entry.name, .projects, session, .photo(content))
    }
}

extension ProjectEntry {
    fileprivate var name: String { (record.templateName.isEmpty ? record.id : record.templateName).escapingControls }
}

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
        for share in others.listed {
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
