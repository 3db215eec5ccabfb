import SyncCore
import SyncEngine
import SystemPackage

/// What a mirror has come to, for people.
struct MirrorView {
    /// Of one kind; the rest is counted.
    private static let namesShown = 20

    let result: MirrorResult
    let terminal: Terminal
    let isPreview: Bool

    /// All of it.
    var lines: [String] {
        var lines: [String] = []
        if let share = result.share { lines.append(terminal.styled(title(of: share.manifest), .bold)) }
        var counts: [String] = []
        if !result.downloaded.isEmpty { counts.append("\(photos(result.downloaded.count)) downloaded") }
        if result.alreadyThere > 0 { counts.append("\(photos(result.alreadyThere)) already there") }
        if !result.kept.isEmpty { counts.append("\(photos(result.kept.count)) left as they are") }
        if result.failed > 0 { counts.append("\(photos(result.failed)) not fetched") }
        let place = result.destination.string.escapingControls
        lines.append("\(place): " + (counts.isEmpty ? "nothing to fetch" : counts.joined(separator: ", ")))
        lines += keptLines
        if isPreview, let share = result.share, share.photos.count > ShareMirror.previewCount {
            lines.append(
                "This is a preview of \(photos(share.photos.count)); without --preview the rest is fetched, too.")
        }
        return lines + ending
    }

    /// What a later look of a watch has found; empty when that is nothing.
    var changes: [String] {
        result.downloaded.map { "new  \($0)" } + ending
    }

    /// For standard error: what failed and why.
    var complaints: [String] {
        var lines = result.notes.map { "\($0.escapingControls)" }
        lines += shortened(result.failures) { failure in
            terminal.styled("failed", .red) + "  \(failure.name): \("\(failure.error)".escapingControls)"
        }
        if let obstacle = result.obstacle {
            lines.append(
                terminal.styled("sync-agent: ", .bold)
                    + "\("\(obstacle)".escapingControls). \(photos(result.untried)) still to come: the same command goes on"
            )
        }
        return lines
    }

    private var keptLines: [String] {
        let lines = shortened(result.kept) { kept in
            switch kept.reason {
            case .changed: "kept    \(kept.name): you changed it"
            case .deleted: "kept    \(kept.name): you deleted it"
            case .nameTaken: "kept    \(kept.name): another file has this name"
            }
        }
        return lines.isEmpty ? [] : lines + ["To have them as they are in the share, use --force."]
    }

    private var ending: [String] {
        let isAnyHere = !result.downloaded.isEmpty || result.alreadyThere > 0
        let rest =
            result.isComplete
            ? "all of it is here and stays" : isAnyHere ? "what is here stays" : "nothing of it was fetched"
        return switch result.end {
        case nil: []
        case .expired(let date): ["This share ended on \(Quantities.day(date)); \(rest)."]
        case .gone: ["This share was revoked or has expired, or the link to it has ended; \(rest)."]
        }
    }

    private func title(of manifest: ShareManifest) -> String {
        let name = manifest.locationName.isEmpty ? "A share" : manifest.locationName
        let days =
            manifest.startDate == manifest.endDate
            ? "\(manifest.startDate)" : "\(manifest.startDate) to \(manifest.endDate)"
        return "\(name), \(days)" + (manifest.sharedBy.map { ", shared by \($0)" } ?? "")
            + ": \(photos(manifest.photoCount))"
    }

    private func photos(_ count: Int) -> String { Quantities.counted(count, "photo") }

    private func shortened<Item>(_ items: [Item], _ line: (Item) -> String) -> [String] {
        items.prefix(Self.namesShown).map(line)
            + (items.count > Self.namesShown ? ["… and \(Quantities.count(items.count - Self.namesShown)) more"] : [])
    }
}
