import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

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
    @Untold var names: [ByteString: String]

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

/// `profiles rename --json`.
struct ProfileRenameReport: Report {
    var id: String
    var name: String
    @Nullable var before: String?

    func lines(on terminal: Terminal) -> [String] {
        let before = before.map { "\($0.escapingControls) is" } ?? "\(id.escapingControls) is called"
        return ["\(before) \(name.escapingControls) now"]
    }
}

/// `profiles merge --json`.
struct ProfileMergeReport: Report {
    struct Profile: Encodable {
        var id: String
        @Nullable var name: String?

        init(_ id: String, _ book: ProfileBook) {
            self.id = id
            name = book.names[id.inBytes]
        }

        var text: String { (name ?? id).escapingControls }
    }

    var dryRun: Bool
    var from: Profile
    var into: Profile
    var events: Int
    var photos: ProfileMigrationReport.Photos
    /// By an earlier merge: `from` goes by the name of `into`, then. Not in the JSON.
    var isMerged = false

    private enum CodingKeys: CodingKey { case dryRun, from, into, events, photos }

    var status: ExitStatus { photos.left.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = photos.lines(on: terminal)
        var held = Quantities.counted(events, "event")
        if !isMerged || photos.moved > 0 { held += ", \(Quantities.counted(photos.moved, "archived photo")) moved" }
        lines.append(
            isMerged
                ? "\(from.id.escapingControls) is \(into.text) already: \(held)"
                : "\(from.text) \(dryRun ? "would be" : "is") \(into.text) now: \(held)")
        if !photos.left.isEmpty {
            lines += terminal.wrapped(
                "\(Quantities.counted(photos.left.count, "photo")) keep\(photos.left.count == 1 ? "s" : "") the old key for "
                    + "now, and \(dryRun ? "would be" : "is") \(into.text)'s all the same.")
        }
        return lines
    }
}

/// `profiles remove --json`.
struct ProfileRemovalReport: Report {
    var dryRun: Bool
    var id: String
    /// E.164, of all that go.
    var phones: [String]
    @Nullable var name: String?

    func lines(on terminal: Terminal) -> [String] {
        let what = ([id] + phones + [name].compactMap(\.self)).map(\.escapingControls).joined(separator: ", ")
        return [dryRun ? "would be removed: \(what)" : "removed: \(what)"]
    }
}

/// `profiles migrate --json`: counts of events, and of archived photos.
struct ProfileMigrationReport: Report {
    struct Orphan: Encodable {
        /// As it is written in events, or in keys.
        var profile: String
        var phone: String
        var events: Int
        var photos: Int
    }

    /// A profile that may be a telephone number, and cannot be read.
    struct Waiting: Encodable {
        /// As it is written in events, or in keys.
        var profile: String
        var events: Int
        var photos: Int
        var reason: String
    }

    struct Photos: Encodable {
        /// Whose keys have no number now.
        var moved: Int
        var left: [KeyRemark]

        init(moved: Int, left: [ProfileMigration.Left]) {
            self.moved = moved
            self.left = left.map { KeyRemark($0.key, $0.reason) }
        }

        /// Of those that are left.
        fileprivate func lines(on terminal: Terminal) -> [String] {
            left.flatMap { left in
                ["left  \(left.key.escapingControls)"] + terminal.wrapped(left.reason.escapingControls, indent: 6)
            }
        }
    }

    struct Kept: Encodable {
        var event: String
        @Nullable var file: String?
        var reason: String
    }

    struct Deletion: Encodable {
        var events: Int
        /// Those that stay.
        var left: [Kept]
    }

    var dryRun: Bool
    var mapped: Int
    var alreadyMapped: Int
    var orphans: [Orphan]
    var waiting: [Waiting]
    var photos: Photos
    /// Of orphans' events; `null` unless it was asked for.
    @Nullable var deleted: Deletion?

    init(_ result: ProfileMigration.Summary, dryRun: Bool) {
        self.dryRun = dryRun
        mapped = result.mapped
        alreadyMapped = result.alreadyMapped
        orphans = result.orphans.map {
            Orphan(profile: $0.profile, phone: $0.phone.e164, events: $0.events, photos: $0.photos)
        }
        waiting = result.waiting.map {
            Waiting(profile: $0.profile, events: $0.events, photos: $0.photos, reason: "\(result.obstacle)")
        }
        photos = Photos(moved: result.moved, left: result.left)
    }

    mutating func note(_ result: OrphanRemover.Summary) {
        deleted = Deletion(
            events: result.deleted,
            left: result.left.map { Kept(event: $0.event, file: $0.file?.string, reason: $0.reason) })
    }

    var status: ExitStatus { photos.left.isEmpty && deleted?.left.isEmpty ?? true ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = photos.lines(on: terminal)
        let would = dryRun ? "to be " : ""
        lines.append(
            "\(Quantities.counted(mapped, "event")) \(would)mapped to a profile, \(Quantities.count(alreadyMapped)) already"
        )
        if photos.moved + photos.left.count > 0 {
            lines.append(
                "\(Quantities.counted(photos.moved, "archived photo")) \(would)moved to a key without a telephone number, "
                    + "\(Quantities.count(photos.left.count)) left")
        }
        if let deleted {
            lines += deleted.left.map { kept in
                "kept  \(kept.event.escapingControls): \(kept.reason.escapingControls)"
                    + (kept.file.map { ", \($0.escapingControls)" } ?? "")
            }
            lines.append("\(Quantities.counted(deleted.events, "event")) without a profile deleted")
            return lines + waitingLines(terminal)
        }
        lines += waitingLines(terminal)
        guard !orphans.isEmpty else { return lines }
        lines.append("Numbers without a profile:")
        lines += orphans.map { orphan in
            var what = Quantities.counted(orphan.events, "event")
            if orphan.photos > 0 { what += ", \(Quantities.counted(orphan.photos, "archived photo"))" }
            if orphan.profile != orphan.phone { what += ", written \(orphan.profile.escapingControls)" }
            return Table(indent: 2, .left(17), .rest).row(orphan.phone, what)
        }
        lines.append("Add their profiles with: sync-agent profiles add NUMBER")
        return lines
    }

    private func waitingLines(_ terminal: Terminal) -> [String] {
        guard let reason = waiting.first?.reason else { return [] }
        return ["Profiles that wait:"]
            + waiting.map { profile in
                var what = Quantities.counted(profile.events, "event")
                if profile.photos > 0 { what += ", \(Quantities.counted(profile.photos, "archived photo"))" }
                return Table(indent: 2, .left(24, gap: 2), .rest).row(profile.profile.escapingControls, what)
            } + terminal.wrapped("Of each, \(reason).")
    }
}
