import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages
import SyncSystem
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
        let canAll = !isReadOnly && items.contains { $0.md5 != nil && $0.canBeRestored(at: now) }
        let stream = SitePage.Timeline(
            address: memories ? "/archive" : "/", items: zip(items, badges).map { item($0, $1, at: now) },
            filters: offered.filters(filter, ofMemories: memories), search: filter.text ?? "",
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

    private func item(_ item: TimelineItem, _ badge: StreamBadge, at now: Date) -> SitePage.Timeline.Item {
        let object = item.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        return SitePage.Timeline.Item(
            id: item.md5?.description, name: item.name, day: item.day, badge: badge.symbol, state: badge.words,
            width: object?.width ?? 0, height: object?.height ?? 0, isFilm: isFilm, hasThumbnail: item.md5 != nil,
            canBeRestored: item.canBeRestored(at: now),
            canBeKept: item.isOnDisk && object != nil
                || item.md5.map { storedCopy(of: $0, among: [item]) != nil } ?? false)
    }
}

/// Filters of the stream as a form's fields and an address have them.
extension TimelineFilter {
    init(_ request: WebRequest) {
        func value(_ name: String) -> String? {
            request.query(name).flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
        }
        self.init(
            kind: value("kind").flatMap(Kind.init), state: value("state").flatMap(State.init),
            folder: value("folder").flatMap { Int64($0) }.map(FolderID.init), year: value("year").flatMap { Int($0) },
            month: value("month").flatMap { Int($0) }, profile: value("profile"), eventType: value("type"),
            text: value("q"))
    }

    /// - Parameter memories: the address stands for the kind.
    func query(before cursor: TimelineCursor?, memories: Bool) -> String {
        let fields = [
            ("kind", memories ? nil : kind?.rawValue), ("folder", folder.map { "\($0.rawValue)" }),
            ("profile", profile), ("type", eventType), ("year", year.map { "\($0)" }),
            ("month", month.map { "\($0)" }), ("state", state?.rawValue), ("q", text), ("before", cursor?.text),
        ]
        return fields.compactMap { name, value in value.map { "\(name)=\($0.uriEncoded())" } }.joined(separator: "&")
    }
}

/// What the stream can be filtered by now.
struct FilterChoices: Sendable {
    private let folders: [FolderRecord]
    private let years: [Int]
    private let profiles: [(value: String, label: String)]
    private let types: [String]

    init(_ ledger: Ledger) throws {
        folders = try ledger.overview().folders.map(\.record)
        years = try ledger.timelineYears()
        types = try ledger.timelineTypes()
        let names = Dictionary(
            try ledger.profiles().map { ($0.uuid, $0.name ?? $0.phone.e164) }, uniquingKeysWith: { first, _ in first })
        profiles = try ledger.timelineProfiles().map { ($0, (names[$0] ?? $0).escapingControls) }
    }

    /// - Parameter memories: of the archive of memories alone.
    func filters(_ filter: TimelineFilter, ofMemories memories: Bool) -> [SitePage.Timeline.Filter] {
        var filters: [SitePage.Timeline.Filter] = []
        func add(
            _ name: String, _ label: String, _ all: String, _ values: [(value: String, label: String)],
            _ chosen: String?
        ) {
            let choices =
                [SitePage.Timeline.Choice(value: "", label: all, isChosen: chosen == nil)]
                + values.map { .init(value: $0.value, label: $0.label, isChosen: $0.value == chosen) }
            filters.append(.init(name: name, label: label, choices: choices))
        }
        if !memories {
            let kinds = TimelineFilter.Kind.allCases.map { (value: $0.rawValue, label: $0.label) }
            add("kind", "Kind", "All kinds", kinds, filter.kind?.rawValue)
            add(
                "folder", "Folder", "All folders",
                folders.map { ("\($0.id.rawValue)", $0.path.lastComponent?.string ?? $0.path.text) },
                filter.folder.map { "\($0.rawValue)" })
        }
        // None where there are no events.
        if !types.isEmpty {
            add("profile", "Profile", "All profiles", profiles, filter.profile)
            add("type", "Event", "All events", types.map { ($0, $0.escapingControls) }, filter.eventType)
        }
        add("year", "Year", "All years", years.map { ("\($0)", "\($0)") }, filter.year.map { "\($0)" })
        let months = (1...12).map { (value: "\($0)", label: PageDates.month($0)) }
        add("month", "Month", "All months", months, filter.month.map { "\($0)" })
        let states = TimelineFilter.State.allCases.map { (value: $0.rawValue, label: $0.label) }
        add("state", "State", "All states", states, filter.state?.rawValue)
        return filters
    }
}

/// The choices, as they were within the last minute: each look walks over all photos, and a stream goes on page by page.
final class RecentChoices: Sendable {
    private static let length: TimeInterval = 60

    private let last = Lock<(at: Date, choices: FilterChoices)?>(nil)

    func now(_ ledger: Ledger, at now: Date) throws -> FilterChoices {
        if let (at, choices) = last.withLock({ $0 }), abs(now.timeIntervalSince(at)) < Self.length { return choices }
        let choices = try FilterChoices(ledger)
        last.withLock { $0 = (now, choices) }
        return choices
    }
}

extension TimelineFilter.Kind {
    fileprivate var label: String { self == .memories ? "Archived events" : rawValue.capitalized }
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

/// How an item of the stream stands: a symbol, and the same in words.
struct StreamBadge: Sendable {
    let symbol: String?
    let words: String

    init(_ item: TimelineItem, policy: TierPolicy, in ledger: Ledger, now: Date) throws {
        if case .photo(let photo) = item.source, let badge = Self.unstored(photo) {
            self = badge
        } else if item.object?.problem != nil {
            self.init(symbol: Badge.error.symbol, words: "what was stored of it is gone or damaged")
        } else if case .photo(let photo) = item.source {
            self.init(try PhotoStatusText(photo, policy: policy, in: ledger, now: now).badge)
        } else {
            self.init(item.object.flatMap { Badge($0, at: now) })
        }
    }

    /// Of what is stored beside the copies of photos.
    init(_ object: ObjectRecord, at now: Date) {
        self.init(Badge(object, at: now))
    }

    private init(symbol: String?, words: String) { (self.symbol, self.words) = (symbol, words) }

    private static func unstored(_ photo: PhotoStatus) -> StreamBadge? {
        switch photo.state {
        case .pending, .uploading: StreamBadge(symbol: nil, words: "waits for its upload")
        // Why, its page tells.
        case .failed: StreamBadge(symbol: Badge.error.symbol, words: "cannot be stored")
        case .lost: StreamBadge(symbol: Badge.error.symbol, words: "nothing is left of it")
        case .skipped: StreamBadge(symbol: nil, words: "not stored")
        case .uploaded, .missing: nil
        }
    }

    private init(_ badge: Badge?) {
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
    fileprivate init?(_ object: ObjectRecord, at now: Date) {
        switch (object.restore.asOf(now), object.storageClass.isArchive) {
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
        case .photo(let photo), .version(_, of: let photo): photo.path.lastComponent?.string.escapingControls ?? ""
        case .event(let picture): "\(picture.type), \(picture.eventID)".escapingControls
        }
    }

    private static func place(of photo: PhotoStatus) -> String {
        (photo.folder.path.lastComponent.map { "\($0.string)/" } ?? "") + photo.relativePath.text.escapingControls
    }

    /// Without what stands above the watched folder.
    var place: String {
        switch source {
        case .photo(let photo):
            Self.place(of: photo) + (photo.state.isOnDisk ? "" : " (no longer on this disk)")
        case .version(let version, of: let photo):
            Self.place(of: photo) + " until \(Quantities.time(version.replacedAt)); the file is another one now"
        case .event(let picture):
            "event of \(CalendarDay(picture.createdAt))\(picture.isArchived ? ", archive of memories" : "")"
        }
    }

    /// Whether it belongs to another photo, as the movie of a live photo does: it is shown with that one.
    func isCompanion(in ledger: Ledger) throws -> Bool {
        guard case .photo(let photo) = source, let unit = try ledger.unit(of: photo) else { return false }
        return unit.photo.id != photo.id
    }
}
