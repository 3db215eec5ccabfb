import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

/// `profiles list --json`.
struct ProfileListReport: Report {
    struct Profile: Encodable {
        var id: String
        /// E.164.
        var phone: String
        @Nullable var name: String?
        /// Of its events known on this machine, how many there are.
        var events: Int
        var createdAt: Date

        init(_ profile: ProfileRecord, events: Int) {
            id = profile.uuid
            phone = profile.phone.e164
            name = profile.name
            createdAt = profile.createdAt
            self.events = events
        }
    }

    var profiles: [Profile]
    /// Events that name a telephone number without a profile.
    var orphanedEvents: Int
    /// Events whose profile may be a telephone number that cannot be read, and why.
    var waitingEvents: Int
    @Nullable var waitingBecause: String?

    init(_ book: ProfileBook, uses: [ProfileUse]) {
        let counts = book.counts(uses)
        profiles = book.profiles.map { Profile($0, events: counts[$0.uuid.inBytes] ?? 0) }
        (orphanedEvents, waitingEvents) = (0, 0)
        for use in uses where use.uuid == nil {
            switch book.owner(of: use.profile) {
            case .orphan: orphanedEvents += use.events
            case .unread: waitingEvents += use.events
            case .known, .doubtful, .id: continue
            }
        }
        if waitingEvents > 0 { waitingBecause = "\(book.obstacle)" }
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines: [String] = []
        if profiles.isEmpty {
            lines.append("No profiles. Add one with: sync-agent profiles add NUMBER")
        } else {
            lines.append(terminal.styled(Self.table.row("id", "number", "events", "name"), .bold))
            lines += profiles.map { profile in
                Self.table.row(
                    profile.id, profile.phone, Quantities.count(profile.events), (profile.name ?? "").escapingControls)
            }
        }
        if orphanedEvents > 0 {
            lines += terminal.wrapped(
                "\(Quantities.counted(orphanedEvents, "event")) with a number that has no profile: "
                    + "sync-agent profiles migrate --dry-run tells which.")
        }
        if let waitingBecause {
            lines += TextLayout.wrapped(
                "\(Quantities.counted(waitingEvents, "event")) of a profile that waits: \(waitingBecause). "
                    + "sync-agent profiles migrate --dry-run tells which.", to: min(terminal.width, 100))
        }
        return lines
    }

    private static let table = Table(.left(38), .left(17), .right(8, gap: 2), .rest)
}
