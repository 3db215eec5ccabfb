import FoundationEssentials
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage

/// What must be true of the events of another app, by what the app has written and what was seen of it. It knows nothing
/// of how a cleanup works.
struct EventModel {
    struct Event: Hashable {
        var created: Date
        /// Its text is the photo: ``FakeDisk``.
        var photo: String?

        /// No decoder takes its photo, so that it never comes into the archive.
        var isBroken: Bool { photo?.hasPrefix("broken") ?? false }
    }

    /// For so long a text stays.
    static let days = 10

    private(set) var events: [String: Event] = [:]
    /// Those whose texts were not there at the last look.
    private var gone: Set<String> = []
    /// The end of a cleanup since that look, by the home's clock.
    private var cleanedAt: Date?

    // MARK: What happens

    mutating func write(_ id: String, _ event: Event) { events[id] = event }
    mutating func cleaned(at now: Date) { cleanedAt = now }

    /// The ids of those whose texts are to go, sorted.
    func due(at now: Date) -> [String] { events.filter { Self.isDue($0.value, at: now) }.keys.sorted() }

    private static func isDue(_ event: Event, at now: Date) -> Bool {
        event.created < now.addingTimeInterval(-Double(days) * 86_400)
    }

    // MARK: What must be true

    /// At any moment: a text goes by a cleanup, when it is due, and with its photo in the archive.
    /// - Returns: the promises that are broken, in words.
    mutating func broken(in gallery: EventGallery, _ memory: InMemoryStore) throws -> [String] {
        let texts = try gallery.texts(of: events.keys)
        let archived = Set(
            memory.keys.filter { $0.rawValue.hasPrefix("gallery-archive/") }.compactMap { memory.content($0) })
        let absent = events.filter { texts[$0.key] == nil }
        var wrong: [String] = []
        for (id, event) in absent.sorted(by: { $0.key < $1.key }) {
            if !gone.contains(id), !(cleanedAt.map { Self.isDue(event, at: $0) } ?? false) {
                wrong.append("the text of \(id) went before it was due")
            }
            if let photo = event.photo, !archived.contains(Array(photo.uppercased().utf8)) {
                wrong.append("the text of \(id) is gone, and its photo is not in the archive")
            }
        }
        gone = Set(absent.keys)
        cleanedAt = nil
        return wrong
    }

    /// After a cleanup that has ended by itself, and whose store was there: what was due is gone, or named.
    /// - Parameters:
    ///   - due: when it began.
    ///   - setAside: files that wait for the person.
    func unnamed(
        in gallery: EventGallery, due: [String], _ summary: RetentionSummary, setAside: Set<String>
    ) throws -> [String] {
        let issues = summary.errors.named + summary.skipped.named
        let events = Set(issues.map(\.event))
        let files = Set(issues.filter(\.isOfFile).compactMap { $0.file?.lastComponent?.string })
        return try gallery.texts(of: due).sorted { $0.key < $1.key }.compactMap { id, name in
            if events.contains(id) || files.contains(name) || setAside.contains(name) { return nil }
            return "after a cleanup the text of \(id) is there, and nothing tells why"
        }
    }

    /// After a cleanup in peace: what is due is there only where its photo is broken.
    /// - Parameter due: when it began.
    func unmended(in gallery: EventGallery, due: [String], _ summary: RetentionSummary) throws -> [String] {
        let issues = summary.errors.named + summary.skipped.named
        var wrong: [String] = []
        for id in try gallery.texts(of: due).keys.sorted() where !(events[id]?.isBroken ?? false) {
            let reason = issues.first { $0.event == id }?.reason ?? "no reason"
            wrong.append("the text of \(id) is due and does not go: \(reason)")
        }
        if let outage = summary.outage { wrong.append("a cleanup in peace ended by \(outage)") }
        return try wrong + gallery.leftovers.map { "\($0) is left of a cleanup" }
    }
}
