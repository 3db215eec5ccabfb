import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

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

    struct Left: Encodable {
        var key: String
        var reason: String
    }

    struct Photos: Encodable {
        /// Whose keys have no number now.
        var moved: Int
        var left: [Left]
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
        photos = Photos(
            moved: result.moved, left: result.left.map { Left(key: $0.key.rawValue, reason: $0.reason) })
    }

    mutating func note(_ result: OrphanRemover.Summary) {
        deleted = Deletion(
            events: result.deleted,
            left: result.left.map { Kept(event: $0.event, file: $0.file?.string, reason: $0.reason) })
    }

    var status: ExitStatus { photos.left.isEmpty && deleted?.left.isEmpty ?? true ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = photos.left.flatMap { left in
            ["left  \(left.key.escapingControls)"]
                + terminal.wrapped(left.reason.escapingControls, indent: 6)
        }
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
