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
        /// Profiles that were merged into it.
        var merged: [Merged]

        init(_ profile: ProfileRecord, events: Int, merged: [Merged] = []) {
            id = profile.uuid
            phone = profile.phone.e164
            name = profile.name
            createdAt = profile.createdAt
            self.events = events
            self.merged = merged
        }
    }

    /// A profile without a number that has a name, or into which others were merged.
    struct Named: Encodable {
        var id: String
        @Nullable var name: String?
        var events: Int
        var merged: [Merged]
    }

    struct Merged: Encodable {
        var id: String
        /// E.164.
        @Nullable var phone: String?
    }

    var profiles: [Profile]
    /// Those that go by their id, in the order of the ids.
    var byId: [Named]
    /// Events that name a telephone number without a profile.
    var orphanedEvents: Int
    /// Events whose profile may be a telephone number that cannot be read, and why.
    var waitingEvents: Int
    @Nullable var waitingBecause: String?
    /// Ids that a rebuild has found, and whose number nobody has given here.
    var withoutNumber: [String]
    private var names: [ByteString: String]

    private enum CodingKeys: String, CodingKey {
        case profiles, byId, orphanedEvents, waitingEvents, waitingBecause, withoutNumber
    }

    init(_ book: ProfileBook, uses: [ProfileUse], withoutNumber: [String] = []) {
        self.withoutNumber = withoutNumber
        let counts = book.counts(uses)
        func merged(_ id: String) -> [Merged] {
            book.keyNames(since: id).dropFirst().map { id in
                Merged(id: id, phone: book.profiles.first { $0.uuid.inBytes == id.inBytes }?.phone.e164)
            }
        }
        profiles = book.profiles.filter { book.notes.merges[$0.uuid.inBytes] == nil }.map {
            Profile($0, events: counts[$0.uuid.inBytes] ?? 0, merged: merged($0.uuid))
        }
        let (numbered, nameless) = (Set(book.profiles.map(\.uuid.inBytes)), Set(withoutNumber.map(\.inBytes)))
        byId = Set(book.notes.names.keys).union(book.notes.merges.values.map(\.inBytes))
            .filter { book.notes.merges[$0] == nil && !numbered.contains($0) && !nameless.contains($0) }.sorted()
            .map {
                Named(
                    id: $0.string, name: book.notes.names[$0], events: counts[$0] ?? 0, merged: merged($0.string))
            }
        names = book.names
        (orphanedEvents, waitingEvents) = (0, 0)
        for use in uses where use.uuid == nil {
            switch book.owner(of: use.profile) {
            case .orphan: orphanedEvents += use.events
            case .unread: waitingEvents += use.events
            case .known, .doubtful, .id, .merged: continue
            }
        }
        if waitingEvents > 0 { waitingBecause = "\(book.obstacle)" }
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines: [String] = []
        if profiles.isEmpty, byId.isEmpty, withoutNumber.isEmpty {
            lines.append("No profiles. Add one with: sync-agent profiles add NUMBER")
        } else if !profiles.isEmpty || !byId.isEmpty {
            lines.append(terminal.styled(Self.table.row("id", "number", "events", "name"), .bold))
            for profile in profiles {
                lines += rows(profile.id, profile.phone, profile.events, profile.name, profile.merged)
            }
            for profile in byId { lines += rows(profile.id, "", profile.events, profile.name, profile.merged) }
        }
        lines += withoutNumber.map { id in
            let name = names[id.inBytes].map { " (\($0.escapingControls))" } ?? ""
            return "\(id)\(name)  needs its number: sync-agent profiles add --id \(id) NUMBER"
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

    private func rows(_ id: String, _ phone: String, _ events: Int, _ name: String?, _ merged: [Merged]) -> [String] {
        [Self.table.row(id.escapingControls, phone, Quantities.count(events), (name ?? "").escapingControls)]
            + merged.map { Self.table.row("", $0.phone ?? "", "", "was \($0.id.escapingControls)") }
    }

    private static let table = Table(.left(38), .left(17), .right(8, gap: 2), .rest)
}
