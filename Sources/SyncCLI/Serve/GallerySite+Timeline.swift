import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages
import SystemPackage

/// The stream of all photos, and the page of one.
extension GallerySite {
    /// - Parameter memories: of the archive of memories alone.
    func timeline(_ request: WebRequest, _ session: String, memories: Bool = false) async throws -> WebResponse {
        var filter = TimelineFilter(request)
        if memories { filter.kind = .memories }
        let now = workspace.time.now()
        let (items, cursor, next) = try await timelinePage(filter, request)
        let (offered, badges) = try await ledger { [policy, choices] ledger in
            let badges = try items.map { try StreamBadge($0, policy: policy, in: ledger, now: now) }
            return (try choices.now(ledger, at: now), badges)
        }
        let days = Quantities.counted(workspace.settings.retention.eventDays, "day")
        let canAll = !isReadOnly && items.contains { $0.md5 != nil && $0.canBeRestored }
        let stream = SitePage.Timeline(
            address: memories ? "/archive" : "/", items: zip(items, badges).map { Self.item($0, $1) },
            filters: memories ? offered.ofMemories(filter) : offered.ofAll(filter), search: filter.text ?? "",
            next: next.map { "\(memories ? "/archive" : "/")?" + filter.query(before: $0, memories: memories) },
            isFirst: cursor == nil,
            isFiltered: filter != (memories ? TimelineFilter(kind: .memories) : TimelineFilter()),
            whenEmpty: memories
                ? "No memories are archived yet by this machine. What others have archived is told by: "
                    + "sync-agent archive list"
                : "No photos yet. Put some into a watched folder.",
            takesOrders: !isReadOnly,
            about: memories ? "Photos of events come here \(days) after the event, and its text is deleted then." : nil,
            all: canAll ? "/restore?all=shown&" + filter.query(before: cursor, memories: false) : nil,
            download: memories && !items.isEmpty
                ? "/archive/\(Self.zipName)?" + filter.query(before: nil, memories: true) : nil)
        return page(
            memories ? "Archive of memories" : "Photos", memories ? .archive : .photos, session, .timeline(stream))
    }

    /// What the page behind a cursor of the request shows, and where the next one begins.
    func timelinePage(
        _ filter: TimelineFilter, _ request: WebRequest
    ) async throws -> (items: [TimelineItem], cursor: TimelineCursor?, next: TimelineCursor?) {
        let cursor = request.query("before").flatMap { TimelineCursor($0) }
        return try await ledger { ledger in
            let found = try ledger.timeline(filter, after: cursor, limit: Self.itemsOfPage + 1)
            // Whoever looks for something finds what belongs to others, too.
            let isWhole = filter.state == nil && filter.text == nil
            let shown = try found.prefix(Self.itemsOfPage).filter { try !isWhole || !$0.isCompanion(in: ledger) }
            return (shown, cursor, found.count > Self.itemsOfPage ? found[Self.itemsOfPage - 1].cursor : nil)
        }
    }

    private static func item(_ item: TimelineItem, _ badge: StreamBadge) -> SitePage.Timeline.Item {
        let object = item.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        return SitePage.Timeline.Item(
            id: item.md5?.description, name: item.name, day: item.day, badge: badge.symbol, state: badge.words,
            width: object?.width ?? 0, height: object?.height ?? 0, isFilm: isFilm, hasThumbnail: item.md5 != nil,
            canBeRestored: item.canBeRestored)
    }

    // MARK: One photo

    func photo(_ id: String, _ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        guard let md5 = MD5Digest(hex: id) else {
            return page(404, "Not found", "There is no such photo.", session: session)
        }
        let items = try await items(md5)
        guard let first = items.first else {
            return page(404, "Not found", "There is no such photo.", session: session)
        }
        let (badge, companions) = try await ledger { [policy] ledger in
            let badge = try StreamBadge(first, policy: policy, in: ledger, now: now)
            guard case .photo(let photo) = first.source else { return (badge, [PhotoStatus]()) }
            return (badge, try ledger.companions(of: photo))
        }
        let object = first.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        let file = try await file(of: md5, among: items)
        let stored = file == nil ? storedCopy(of: md5, among: items) : nil
        let isReadable = object.map { $0.isReadable && $0.problem == nil } ?? false
        var facts = try await facts(first)
        if let event = items.lazy.compactMap(\.event).first { facts += try await self.facts(of: event) }
        if !companions.isEmpty {
            let names = companions.compactMap { $0.path.lastComponent?.string.escapingControls }
            facts.append(.init("Goes with it", names.joined(separator: ", ")))
        }
        let content = SitePage.Photo(
            id: md5.description, name: first.name, badge: badge.symbol, state: badge.words, facts: facts,
            places: items.map(\.place),
            hasPicture: file != nil || isReadable && !isFilm || stored != nil && sharedFiles != nil, hasThumbnail: true,
            isFilm: isFilm, canBeRestored: !isReadOnly && items.objectToRestore != nil,
            download: file != nil || stored != nil ? "/photo/\(md5)/file" : nil)
        return page(first.name, .photos, session, .photo(content))
    }

    private func facts(of event: EventPicture) async throws -> [SitePage.Fact] {
        let share = workspace.settings.share
        let name = try await ledger { try $0.profileBook(share).name(event.profile) }
        return [
            .init("Profile", (name ?? event.profile).escapingControls), .init("Event", event.type.escapingControls),
            .init("Day of the event", "\(CalendarDay(event.createdAt))"),
        ]
    }

    private func facts(_ item: TimelineItem) async throws -> [SitePage.Fact] {
        var facts: [SitePage.Fact] = []
        if let takenAt = item.object?.takenAt {
            facts.append(.init("Taken", "\(takenAt.day), \(takenAt.hourAndMinute)"))
        }
        if case .photo(let photo) = item.source {
            if let bytes = photo.bytesLocal { facts.append(.init("File", Quantities.bytes(bytes))) }
            if let why = photo.why { facts.append(.init("Why", try await places().removed(from: why))) }
        }
        guard let object = item.object else { return facts }
        var copy = Quantities.bytes(object.size)
        if let width = object.width, let height = object.height { copy += ", \(width) × \(height) pixels" }
        facts.append(.init("Stored copy", copy))
        facts.append(.init("Stored since", Quantities.day(object.storedAt)))
        facts.append(.init("Storage class", object.storageClass.rawValue))
        let job = try await ledger { ledger in
            guard object.restore == .inProgress, let item = try ledger.openRestoreItem(for: object.key) else {
                return RestoreJobSummary?.none
            }
            return try ledger.restoreJob(item.job)
        }
        if case .restored(let until) = object.restore, let until {
            facts.append(.init("Can be read until", Quantities.time(until)))
        } else if let ready = job.flatMap({ $0.job.end(after: $0.job.estimatedHours) }) {
            facts.append(.init("Back by", Quantities.time(ready)))
        }
        if !object.dropped.isEmpty {
            facts.append(.init("Not in the copy", object.dropped.map(\.rawValue).joined(separator: ", ")))
        }
        return facts
    }
}
