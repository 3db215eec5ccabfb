import FoundationEssentials
import SyncCore
import SyncEngine

/// Archived photos for people: a line each.
struct MemoryView {
    private static let columnsOfTable = 76

    let terminal: Terminal
    /// Names of profiles, by what stands in keys.
    let names: [ByteString: String]

    func list(_ page: MemoryPage) -> [String] {
        guard !page.photos.isEmpty else { return ["No archived photos are meant."] }
        let head = row("date (UTC)", "profile", "size", "class", "")
        var lines = [terminal.styled(head, .bold)]
        lines += page.photos.map(line)
        let count = Quantities.counted(page.photos.count, "photo")
        lines.append(terminal.styled(page.next == nil ? count : "\(count), and there are more", .dim))
        if let next = page.next {
            lines.append("The next ones: the same command with --after \(Self.argument(next.rawValue))")
        }
        return lines
    }

    private func line(_ memory: ArchivedMemory) -> String {
        let badge = Badge(memory).map { terminal.hasStyle ? "\($0.symbol) \($0.rawValue)" : $0.rawValue }
        let title = memory.title ?? ""
        let room = terminal.width - Self.columnsOfTable - 4
        let line = row(
            Self.moment(memory.createdAt),
            (names[memory.place.profile.inBytes] ?? memory.place.profile).escapingControls,
            Quantities.bytes(memory.size), memory.storageClass.rawValue.escapingControls, badge ?? "")
        guard room >= 12, !title.isEmpty else { return line }
        return TextLayout.fitted(line, to: Self.columnsOfTable) + "  "
            + TextLayout.shortened(title.escapingControls, to: room)
    }

    private func row(_ cells: String...) -> String {
        let line =
            TextLayout.fitted(cells[0], to: 18) + TextLayout.fitted(cells[1], to: 18)
            + TextLayout.fitted(cells[2], to: 10, alignRight: true) + "  " + TextLayout.fitted(cells[3], to: 14)
            + cells[4]
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// `2025-10-20 08:15`
    private static func moment(_ date: Date) -> String {
        String(date.formatted(.iso8601).replacing("T", with: " ").prefix(16))
    }

    /// As a shell takes it for one word.
    private static func argument(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
                || "-._/+@".utf8.contains(byte)
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
