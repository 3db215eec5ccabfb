import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// The stream of all photos.
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
            address: memories ? "/archive" : "/", items: zip(items, badges).map { item($0, $1) },
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

    private func item(_ item: TimelineItem, _ badge: StreamBadge) -> SitePage.Timeline.Item {
        let object = item.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        return SitePage.Timeline.Item(
            id: item.md5?.description, name: item.name, day: item.day, badge: badge.symbol, state: badge.words,
            width: object?.width ?? 0, height: object?.height ?? 0, isFilm: isFilm, hasThumbnail: item.md5 != nil,
            canBeRestored: item.canBeRestored,
            canBeKept: item.isOnDisk && object != nil
                || item.md5.map { storedCopy(of: $0, among: [item]) != nil } ?? false)
    }
}
