import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPages
import SyncSystem
import SystemPackage

extension GallerySite {
    // MARK: The stream

    func timeline(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        let filter = TimelineFilter(
            kind: request.query("kind").flatMap(TimelineFilter.Kind.init),
            state: request.query("state").flatMap(TimelineFilter.State.init),
            folder: request.query("folder").flatMap { Int64($0) }.map(FolderID.init),
            year: request.query("year").flatMap { Int($0) },
            text: request.query("q").flatMap { $0.isEmpty ? nil : String($0.prefix(200)) })
        let cursor = request.query("before").flatMap { TimelineCursor($0) }
        let now = workspace.time.now()
        let (items, folders, years, badges) = try await ledger { [policy] ledger in
            let items = try ledger.timeline(filter, after: cursor, limit: Self.itemsOfPage + 1)
            let badges = try items.map { try StreamBadge($0, policy: policy, in: ledger, now: now) }
            return (items, try ledger.overview().folders.map(\.record), try ledger.timelineYears(), badges)
        }
        let shown = items.prefix(Self.itemsOfPage)
        let next = items.count > shown.count ? shown.last.map { Self.link(filter, before: $0.cursor) } : nil
        let stream = SitePage.Timeline(
            items: zip(shown, badges).map { Self.item($0, $1) },
            filters: Self.filters(filter, folders: folders, years: years), search: filter.text ?? "", next: next,
            isFirst: cursor == nil, isFiltered: filter != TimelineFilter(), takesOrders: !isReadOnly)
        return page("Photos", .photos, session, .timeline(stream))
    }

    private static func item(_ item: TimelineItem, _ badge: StreamBadge) -> SitePage.Timeline.Item {
        let object = item.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        return SitePage.Timeline.Item(
            id: item.md5?.description, name: item.name, day: item.day, badge: badge.symbol, state: badge.words,
            width: object?.width ?? 0, height: object?.height ?? 0, isFilm: isFilm, hasThumbnail: item.md5 != nil,
            canBeRestored: object?.canBeRestored ?? false)
    }

    private static func filters(
        _ filter: TimelineFilter, folders: [FolderRecord], years: [Int]
    ) -> [SitePage.Timeline.Filter] {
        func choices(_ all: String, _ values: [(value: String, label: String)], _ chosen: String?)
            -> [SitePage.Timeline.Choice]
        {
            [.init(value: "", label: all, isChosen: chosen == nil)]
                + values.map { .init(value: $0.value, label: $0.label, isChosen: $0.value == chosen) }
        }
        let folder = filter.folder.map { "\($0.rawValue)" }
        return [
            .init(
                name: "kind", label: "Kind",
                choices: choices(
                    "All kinds", TimelineFilter.Kind.allCases.map { ($0.rawValue, $0.label) }, filter.kind?.rawValue)),
            .init(
                name: "folder", label: "Folder",
                choices: choices(
                    "All folders",
                    folders.map { ("\($0.id.rawValue)", $0.path.lastComponent?.string ?? $0.path.text) }, folder)),
            .init(
                name: "year", label: "Year",
                choices: choices("All years", years.map { ("\($0)", "\($0)") }, filter.year.map { "\($0)" })),
            .init(
                name: "state", label: "State",
                choices: choices(
                    "All states", TimelineFilter.State.allCases.map { ($0.rawValue, $0.label) }, filter.state?.rawValue)
            ),
        ]
    }

    private static func link(_ filter: TimelineFilter, before cursor: TimelineCursor) -> String {
        let fields = [
            ("kind", filter.kind?.rawValue), ("folder", filter.folder.map { "\($0.rawValue)" }),
            ("year", filter.year.map { "\($0)" }), ("state", filter.state?.rawValue), ("q", filter.text),
            ("before", cursor.text),
        ]
        return "/?" + fields.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }.joined(separator: "&")
    }

    // MARK: One photo

    func photo(_ id: String, _ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        guard let md5 = MD5Digest(hex: id), let first = try await items(md5).first else {
            return page(404, "Not found", "There is no such photo.", session: session)
        }
        let items = try await items(md5)
        let badge = try await ledger { [policy] in try StreamBadge(first, policy: policy, in: $0, now: now) }
        let object = first.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        let onDisk = items.contains {
            if case .photo(let photo) = $0.source { photo.state.isOnDisk } else { false }
        }
        let isReadable = object.map { $0.isReadable && $0.problem == nil } ?? false
        let canBeRestored = !isReadOnly && (object?.canBeRestored ?? false)
        let content = SitePage.Photo(
            id: md5.description, name: first.name, badge: badge.symbol, state: badge.words,
            facts: try facts(first, canBeRestored: canBeRestored), places: items.map(\.place),
            hasPicture: onDisk || isReadable && !isFilm, hasThumbnail: true, isFilm: isFilm,
            canBeRestored: canBeRestored, download: onDisk ? "/photo/\(md5)/file" : nil)
        return page(first.name, .photos, session, .photo(content))
    }

    private func facts(_ item: TimelineItem, canBeRestored: Bool) throws -> [SitePage.Fact] {
        var facts: [SitePage.Fact] = []
        if let takenAt = item.object?.takenAt {
            facts.append(.init("Taken", "\(takenAt.day), \(takenAt.hourAndMinute)"))
        }
        if case .photo(let photo) = item.source {
            if let bytes = photo.bytesLocal { facts.append(.init("File", Quantities.bytes(bytes))) }
            if let why = photo.why { facts.append(.init("Why", withoutPlaces(why))) }
        }
        guard let object = item.object else { return facts }
        var copy = Quantities.bytes(object.size)
        if let width = object.width, let height = object.height { copy += ", \(width) × \(height) pixels" }
        facts.append(.init("Stored copy", copy))
        facts.append(.init("Stored since", Quantities.day(object.storedAt)))
        facts.append(.init("Storage class", object.storageClass.rawValue))
        if !object.dropped.isEmpty {
            facts.append(.init("Not in the copy", object.dropped.map(\.rawValue).joined(separator: ", ")))
        }
        return facts
    }

    // MARK: Restores

    /// What it would cost and take, before anything is asked for.
    func offer(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        let ids = request.query.filter { $0.name == "photo" }.map(\.value)
        let names = try await names(ids)
        guard !names.isEmpty else {
            return page(
                404, "Nothing to bring back", "None of these photos waits in the archive: see their state.",
                session: session)
        }
        let orders = Restores(try await desk.services(workspace), workspace, for: .reading)
        let proposal: RestoreProposal
        do {
            proposal = try await orders.propose(
                RestoreWish(names: names, tier: .tier(workspace.settings.restore.tier)))
        } catch is CommandFailure {
            // Not every class has the configured tier; each has this one.
            proposal = try await orders.propose(RestoreWish(names: names, tier: .tier(.standard)))
        }
        let isFree = try orders.view().isFree
        // The store's own word, where it has one.
        let duration = orders.parts.store.capabilities.restoreDuration
        let tiers = proposal.options.map { option in
            SitePage.Offer.Tier(
                value: option.tier.rawValue, label: option.tier.rawValue.capitalized,
                price: isFree ? "nothing" : Quantities.aboutDollars(option.estimate.totalUSD),
                wait: (duration ?? option.estimate.hours.map { .seconds($0 * 3_600) }).map(Quantities.span)
                    ?? "not known",
                isChosen: option.tier == proposal.tier)
        }
        let count = proposal.candidates.count
        let summary =
            "\(Quantities.counted(count, "photo")) of the archive can be read for \(workspace.settings.restore.days) days then."
        let content = SitePage.Offer(
            photos: ids.filter { MD5Digest(hex: $0) != nil }, summary: summary, tiers: tiers,
            remarks: proposal.problems.map { withoutPlaces("Left out: \($0)") })
        return page("Bring photos back", .restores, session, .offer(content))
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
                facts.append("available by \(PageMoment.text(readyAt))")
            }
            if let expiresAt = job.expiresAt, job.state != .expired {
                facts.append("available until \(PageMoment.text(expiresAt))")
            }
            return SitePage.Listing.Row(
                title: "Restore \(job.jobId), \(Quantities.ago(job.requestedAt, now: now))", state: job.state.words,
                facts: facts, progress: [.sending, .retrieving].contains(job.state) ? (job.done, job.items) : nil)
        }
        return page(
            "Restores", .restores, session,
            .list(.init(rows: rows, whenEmpty: "Nothing was brought back from the archive yet.")))
    }

    // MARK: Vacations, shares, status

    func vacations(_ session: String) async throws -> WebResponse {
        let records = try await ledger { try $0.vacations() }
        let rows = records.map { vacation in
            let name = vacation.folder.lastComponent?.string ?? ""
            let total = vacation.waiting + vacation.uploaded + vacation.failed + vacation.missing
            var facts = ["\(Quantities.counted(total, "photo"))"]
            if let details = vacation.lookedDetails {
                facts.insert("\(details.startDate) to \(details.endDate)", at: 0)
            }
            if vacation.failed > 0 { facts.append("\(Quantities.count(vacation.failed)) cannot be stored") }
            if vacation.missing > 0 { facts.append("\(Quantities.count(vacation.missing)) no longer on this disk") }
            let state = vacation.waiting > 0 ? "\(Quantities.count(vacation.waiting)) waiting" : "stored"
            return SitePage.Listing.Row(
                title: vacation.lookedDetails?.location ?? name, state: state, facts: facts,
                link: "/?kind=vacations&q=\(Self.encoded("/" + name + "/"))",
                progress: vacation.waiting > 0 ? (total - vacation.waiting, total) : nil)
        }
        return page(
            "Vacations", .vacations, session,
            .list(.init(rows: rows, whenEmpty: "No vacations yet: each folder in a folder of kind vacations is one.")))
    }

    func shares(_ session: String) async throws -> WebResponse {
        let (records, now) = (try await ledger { try $0.shares(limit: 100) }, workspace.time.now())
        let rows = records.map { share in
            var facts = ["\(share.startDate) to \(share.endDate)", Quantities.counted(share.photoCount, "photo")]
            if share.expiresAt > now { facts.append("until \(PageMoment.text(share.expiresAt))") }
            let isLive = share.state == .live
            let own = isLive && sharedFiles != nil ? "/s/\(share.id)/" : nil
            let link = share.link?.url
            return SitePage.Listing.Row(
                title: share.location, state: share.state.rawValue, facts: facts,
                link: own ?? (isLive && link?.hasPrefix("https://") == true ? link : nil))
        }
        return page(
            "Shares", .shares, session,
            .list(.init(rows: rows, whenEmpty: "Nothing is shared. sync-agent share makes a link.")))
    }

    /// The words of the command, but for where on this machine things lie.
    func status(_ session: String) async throws -> WebResponse {
        let terminal = Terminal(-1, isTerminal: false, [:], columns: 100)
        let lines = try await StatusReader(workspace).read().view(on: terminal).lines
        return page("Status", .status, session, .text(lines.map(withoutPlaces)))
    }

    /// Of each place, the name alone is left.
    func withoutPlaces(_ line: String) -> String {
        let location = workspace.installation.location
        var places = workspace.settings.watch.map { ($0.path, $0.path.lastComponent?.string ?? "") }
        if case .directory(let store) = workspace.settings.store { places.append((store.path, "the embedded store")) }
        places += [(location.stateFolder, "the state folder"), (location.file, "the configuration")]
        // What lies in another comes first.
        places.sort { $0.0.string.utf8.count > $1.0.string.utf8.count }
        var line = line
        for (place, name) in places {
            for written in [place.string, location.home.map { abbreviated(place.string, $0.string) } ?? ""] {
                let written = written.escapingControls
                while !written.isEmpty, let range = line.firstRange(of: written) {
                    line.replaceSubrange(range, with: name)
                }
            }
        }
        return line
    }

    private func abbreviated(_ path: String, _ home: String) -> String {
        path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }
}

/// How an item of the stream stands: a symbol, and the same in words.
struct StreamBadge: Sendable {
    let symbol: String?
    let words: String

    init(_ item: TimelineItem, policy: TierPolicy, in ledger: Ledger, now: Date) throws {
        let badge: Badge?
        switch item.source {
        case .photo(let photo):
            badge = try PhotoStatusText(photo, policy: policy, in: ledger, now: now).badge
            switch photo.state {
            case .pending, .uploading:
                (symbol, words) = (nil, "waits for its upload")
                return
            case .failed, .lost:
                (symbol, words) = (Badge.error.symbol, photo.why ?? "nothing is left of it")
                return
            case .skipped:
                (symbol, words) = (nil, "not stored")
                return
            case .uploaded, .missing: break
            }
        case .event(let picture): badge = Badge(picture.object)
        }
        if item.object?.problem != nil {
            (symbol, words) = (Badge.error.symbol, "what was stored of it is gone or damaged")
            return
        }
        symbol = badge?.symbol
        words =
            switch badge {
            case .archived: "archived"
            case .retrieving: "on its way back from the archive"
            case .rush: "on its way back, as fast as it goes"
            case .restored: "restored"
            case .error: "cannot be stored"
            case nil: "stored"
            }
    }
}

extension Badge {
    /// Of what is no file.
    fileprivate init?(_ object: ObjectRecord) {
        switch (object.restore, object.storageClass.isArchive) {
        case (.inProgress, _): self = .retrieving
        case (.restored, true): self = .restored
        case (.none, true): self = .archived
        default: return nil
        }
    }
}

extension TimelineItem {
    var name: String {
        switch source {
        case .photo(let photo): photo.path.lastComponent?.string.escapingControls ?? ""
        case .event(let picture): "\(picture.type), \(picture.eventID)".escapingControls
        }
    }

    /// Without what stands above the watched folder.
    var place: String {
        switch source {
        case .photo(let photo):
            (photo.folder.path.lastComponent.map { "\($0.string)/" } ?? "") + photo.relativePath.text.escapingControls
                + (photo.state.isOnDisk ? "" : " (no longer on this disk)")
        case .event(let picture):
            "event of \(CalendarDay(picture.createdAt))\(picture.isArchived ? ", archive of memories" : "")"
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

extension TimelineFilter.Kind {
    fileprivate var label: String {
        switch self {
        case .gallery: "Gallery"
        case .vacations: "Vacations"
        case .projects: "Projects"
        case .events: "Events"
        }
    }
}

extension TimelineFilter.State {
    fileprivate var label: String {
        switch self {
        case .stored: "Stored"
        case .archived: "❄️ Archived"
        case .retrieving: "⏳ Coming back"
        case .restored: "✨ Restored"
        case .waiting: "Waiting"
        case .failed: "⚠️ Failed"
        case .missing: "No longer on this disk"
        }
    }
}

/// Moments on the machine's clock.
enum PageMoment {
    static func text(_ date: Date) -> String { Quantities.time(date) }
}
