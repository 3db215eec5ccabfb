import FoundationEssentials
import SyncCore
import SyncEngine

/// Archived photos for people: a line each.
struct MemoryView {
    private static let table = Table(.left(18), .left(18), .right(10, gap: 2), .left(14), .rest)
    private static let columnsOfTable = 76

    let terminal: Terminal
    /// Names of profiles, by what stands in keys.
    let names: [ByteString: String]

    func list(_ page: MemoryPage) -> [String] {
        guard !page.photos.isEmpty else { return ["No archived photos are meant."] }
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

    private func line(_ memory: ArchivedMemory) -> String {
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
