import FoundationEssentials
import SyncCore
import SyncLedger
import SyncPages
import SyncSystem
import SystemPackage

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

    func ofAll(_ filter: TimelineFilter) -> [SitePage.Timeline.Filter] {
        let folder = Self.filter(
            "folder", "Folder", "All folders",
            folders.map { ("\($0.id.rawValue)", $0.path.lastComponent?.string ?? $0.path.text) },
            filter.folder.map { "\($0.rawValue)" })
        let kind = Self.filter(
            "kind", "Kind", "All kinds", TimelineFilter.Kind.allCases.map { ($0.rawValue, $0.label) },
            filter.kind?.rawValue)
        return [kind, folder] + ofEvents(filter) + ofTime(filter) + [state(filter)]
    }

    func ofMemories(_ filter: TimelineFilter) -> [SitePage.Timeline.Filter] {
        ofEvents(filter) + ofTime(filter) + [state(filter)]
    }

    /// None where there are no events.
    private func ofEvents(_ filter: TimelineFilter) -> [SitePage.Timeline.Filter] {
        guard !types.isEmpty else { return [] }
        return [
            Self.filter("profile", "Profile", "All profiles", profiles, filter.profile),
            Self.filter("type", "Event", "All events", types.map { ($0, $0.escapingControls) }, filter.eventType),
        ]
    }

    private func ofTime(_ filter: TimelineFilter) -> [SitePage.Timeline.Filter] {
        [
            Self.filter("year", "Year", "All years", years.map { ("\($0)", "\($0)") }, filter.year.map { "\($0)" }),
            Self.filter(
                "month", "Month", "All months", (1...12).map { ("\($0)", PageDates.month($0)) },
                filter.month.map { "\($0)" }),
        ]
    }

    private func state(_ filter: TimelineFilter) -> SitePage.Timeline.Filter {
        Self.filter(
            "state", "State", "All states", TimelineFilter.State.allCases.map { ($0.rawValue, $0.label) },
            filter.state?.rawValue)
    }

    private static func filter(
        _ name: String, _ label: String, _ all: String, _ values: [(value: String, label: String)], _ chosen: String?
    ) -> SitePage.Timeline.Filter {
        let choices =
            [SitePage.Timeline.Choice(value: "", label: all, isChosen: chosen == nil)]
            + values.map { .init(value: $0.value, label: $0.label, isChosen: $0.value == chosen) }
        return .init(name: name, label: label, choices: choices)
    }
}

/// The choices, as they were within the last minute: each look walks over all photos, and a stream goes on page by page.
final class RecentChoices: Sendable {
    private static let length: TimeInterval = 60

    private let last = Mutex<(at: Date, choices: FilterChoices)?>(nil)

    func now(_ ledger: Ledger, at now: Date) throws -> FilterChoices {
        if let (at, choices) = last.withLock({ $0 }), abs(now.timeIntervalSince(at)) < Self.length { return choices }
        let choices = try FilterChoices(ledger)
        last.withLock { $0 = (now, choices) }
        return choices
    }
}

extension TimelineItem {
    /// Whether it belongs to another photo, as the movie of a live photo does: it is shown with that one.
    func isCompanion(in ledger: Ledger) throws -> Bool {
        guard case .photo(let photo) = source, let unit = try ledger.unit(of: photo) else { return false }
        return unit.photo.id != photo.id
    }
}

extension TimelineFilter.Kind {
    fileprivate var label: String {
        switch self {
        case .gallery: "Gallery"
        case .vacations: "Vacations"
        case .projects: "Projects"
        case .events: "Events"
        case .memories: "Archived events"
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
