import FoundationEssentials
import SyncCore
import SyncEngine

/// `archive list --json`: the fields are a contract (docs/commands.md).
struct ArchiveReport: Encodable {
    struct Photo: Encodable {
        var key: String
        var profile: String
        var eventId: String
        @Nullable var eventType: String?
        var createdAt: Date
        @Nullable var archivedAt: Date?
        var size: Int64
        var storageClass: String
        @Nullable var badge: Badge?
        @Nullable var title: String?
        @Nullable var width: Int?
        @Nullable var height: Int?
    }

    var photos: [Photo]
    /// What `--after` takes for the next page; `null` on the last.
    @Nullable var next: String?
    /// What is in the archive and could not be looked at.
    var problems: [Problem]

    struct Problem: Encodable {
        var key: String
        var reason: String
    }

    init(_ page: ArchivePage) {
        problems = page.problems.map { Problem(key: $0.key.rawValue, reason: $0.reason) }
        photos = page.photos.map { Photo($0) }
        next = page.next?.rawValue
    }
}

extension ArchiveReport.Photo {
    init(_ memory: ArchivedGalleryPhoto) {
        self.init(
            key: memory.key.rawValue, profile: memory.place.profile, eventId: memory.eventID,
            eventType: memory.type?.rawValue, createdAt: memory.createdAt, archivedAt: memory.archivedAt,
            size: memory.size, storageClass: memory.storageClass.rawValue, badge: Badge(memory), title: memory.title,
            width: memory.width, height: memory.height)
    }
}

extension Badge {
    init?(_ memory: ArchivedGalleryPhoto) {
        switch memory.standing {
        case .readable: return nil
        case .archived: self = .archived
        case .retrieving: self = .retrieving
        case .restored: self = .restored
        }
    }
}

/// Archived photos for people: a line each.
struct ArchiveView {
    private static let table = Table(.left(18), .left(18), .right(10, gap: 2), .left(14), .rest)
    private static let columnsOfTable = 76

    let terminal: Terminal
    /// Names of profiles, by what stands in keys.
    let names: [ByteString: String]

    func list(_ page: ArchivePage) -> [String] {
        guard !page.photos.isEmpty else { return ["No archived photos match."] }
        let head = Self.table.row("date (UTC)", "profile", "size", "class", "")
        var lines = [terminal.styled(head, .bold)]
        lines += page.photos.map(line)
        let count = Quantities.counted(page.photos.count, "photo")
        lines.append(terminal.styled(page.next == nil ? count : "\(count), and there are more", .dim))
        if let next = page.next {
            lines.append("The next ones: the same command with --after \(next.rawValue.asShellWord)")
        }
        return lines
    }

    private func line(_ memory: ArchivedGalleryPhoto) -> String {
        let badge = Badge(memory).map { terminal.hasStyle ? "\($0.symbol) \($0.rawValue)" : $0.rawValue }
        let title = memory.title ?? ""
        let room = terminal.width - Self.columnsOfTable - 4
        let line = Self.table.row(
            Self.moment(memory.createdAt),
            (names[memory.place.profile.inBytes] ?? memory.place.profile).escapingControls,
            Quantities.bytes(memory.size), memory.storageClass.rawValue.escapingControls, badge ?? "")
        guard room >= 12, !title.isEmpty else { return line }
        return TextLayout.fitted(line, to: Self.columnsOfTable) + "  "
            + TextLayout.shortened(title.escapingControls, to: room)
    }

    /// `2025-10-20 08:15`
    private static func moment(_ date: Date) -> String {
        String(date.formatted(.iso8601).replacing("T", with: " ").prefix(16))
    }
}
