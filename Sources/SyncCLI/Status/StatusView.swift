import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// The overview for people: what is safe, what is not yet, and why. It fits 80 columns.
struct StatusView {
    let report: StatusReport
    /// Photos that failed, the oldest first; not all of them when there are many.
    let failed: [PhotoStatus]
    /// Photos of which nothing is left, likewise.
    var lost: [PhotoStatus] = []
    /// Archived photos of events, and earlier images of projects, of which nothing is left.
    var lostObjects: [ObjectRecord] = []
    /// Objects of what is lost.
    var brokenOfLost = 0
    /// How many copies that are gone or damaged have a whole original.
    var copiesToMakeAnew = 0
    let terminal: Terminal
    let now: Date
    /// The user's home folder, shown as `~`.
    let home: String?
    /// Since when the photo is there that waits longest.
    var waitingSince: Date?

    private static let numberWidth = 11
    /// How many of the files that are left out are named.
    private static let notesShown = 10

    var lines: [String] {
        headLines + [""] + folderLines + [""] + storedLines
            + VacationLines(report.vacations, terminal: terminal, width: width).lines + unsafeLines + leftOutLines
    }

    private var width: Int { terminal.textWidth }
    /// Whether there is no room for a name beside four numbers.
    private var isNarrow: Bool { terminal.isNarrow(for: 64) }

    private var headLines: [String] {
        var agent = [terminal.styled("not running", .yellow), "(start it with: sync-agent run)"]
        if let pid = report.agent.pid, let since = report.agent.since {
            let span = Quantities.lasting(since: since, now: now)
            agent = [terminal.styled("running", .green), "(process \(pid), \(span))"]
        }
        let since = report.store.since.map { " \(Quantities.lasting(since: $0, now: now))" } ?? ""
        let state: (words: String, style: Terminal.Style) =
            if !report.store.reachable {
                ("not reachable\(since)", .red)
            } else if report.store.refusal != nil {
                ("reachable, took no photos\(since)", .red)
            } else {
                ("reachable", .green)
            }
        let location = abbreviated(report.store.location)
        let table = Table(.left(6, gap: 2), .rest)
        func fact(_ name: String, _ text: String, _ style: Terminal.Style? = nil) -> [String] {
            let wrapped = TextLayout.wrapped(text, to: width - 8)
            return table.rows(name, last: wrapped.map { line in style.map { terminal.styled(line, $0) } ?? line })
        }
        let store = "\(terminal.styled(state.words, state.style)), \(location)"
        var lines = [table.row("Agent", agent.joined(separator: " ")), table.row("Store", store)]
        // A time that is still to come is told in more words.
        if isNarrow || [report.agent.since, report.store.since].contains(where: { $0?.isAhead(of: now) == true }) {
            lines = [table.row("Agent", agent[0])] + terminal.wrapped(agent[1], indent: 8)
            lines += fact("Store", state.words, state.style) + terminal.wrapped(location, indent: 8)
        }
        if let error = report.store.error ?? report.store.refusal {
            lines += terminal.wrapped(error, indent: 8)
        }
        if let note = report.store.note { lines += terminal.wrapped(note, indent: 8) }
        if let lastSyncAt = report.lastSyncAt {
            lines += fact("Synced", "\(Quantities.ago(lastSyncAt, now: now)), the last whole pass")
        }
        if let events = report.retention.sentence(now: now) {
            lines += fact("Events", events, report.retention.overdue > 0 ? .yellow : nil)
        }
        for words in report.disks.compactMap(\.words) {
            lines += fact("Disk", "\(words.escapingControls); free some space", .yellow)
        }
        if let names { lines += fact("Names", names, .yellow) }
        if let knowledge { lines += fact("Files", knowledge, .yellow) }
        return lines
    }

    /// Whether names of photos are in danger; `nil` when they are in the store.
    private var names: String? {
        if !report.catalog.enabled {
            if report.catalog.writtenAt != nil {
                return "in the store still, though store.catalog is off: the next sync removes them from there"
            }
            return
                "on this disk alone (store.catalog: off); when it is gone, photos come back without their names, and "
                + "vacations and shares do not"
        }
        return report.catalog.problem.map { "not up to date in the store: \($0.escapingControls)" }
    }

    /// How old what is told of the files is; `nil` while an agent looks at them.
    private var knowledge: String? {
        guard !report.agent.running, !report.folders.isEmpty else { return nil }
        let times = report.folders.compactMap(\.scannedAt)
        guard let oldest = times.min() else { return "not looked at yet; run sync-agent sync" }
        let rest = report.folders.count - times.count
        // Right after a pass there is nothing to tell.
        if rest == 0, abs(now.timeIntervalSince(oldest)) < 60 { return nil }
        return (rest > 0 ? "\(Quantities.counted(rest, "folder")) not looked at yet, the others " : "")
            + "as of the last pass, \(Quantities.ago(oldest, now: now)); run sync-agent sync"
    }

    private var folderLines: [String] {
        let columns = ["files", "stored", "waiting", "failed"]
        let nameWidth = width - columns.count * Self.numberWidth
        let table = Table([.left(nameWidth)] + columns.map { _ in .right(Self.numberWidth) })
        func line(_ name: String, _ numbers: [Int]) -> [String] {
            let counts = numbers.map(Quantities.count)
            guard isNarrow else { return [table.row([name] + counts)] }
            let words = zip(counts, columns).map { "\($0) \($1)" }.joined(separator: ", ")
            return [TextLayout.shortened(name, to: width)] + terminal.wrapped(words, indent: 2)
        }
        var lines = isNarrow ? [] : [terminal.styled(table.row(["Folder"] + columns), .bold)]
        for folder in report.folders {
            lines += line(abbreviated(folder.path), [folder.files, folder.uploaded, folder.pending, folder.failed])
            lines += note(of: folder)
        }
        let totals = report.totals
        if report.folders.count > 1 {
            lines += line("all", [totals.files, totals.uploaded, totals.pending, totals.failed])
        }
        return lines
    }

    private func note(of folder: StatusReport.Folder) -> [String] {
        let parts = [folder.watching == "polling" ? "polled" : nil, folder.note].compactMap(\.self)
        return parts.isEmpty ? [] : terminal.wrapped(parts.joined(separator: ": "), indent: 4, .dim)
    }

    private var storedLines: [String] {
        let totals = report.totals
        var line = "\(Quantities.bytes(totals.bytesLocal)) on the disk, \(Quantities.bytes(totals.bytesStored)) stored"
        // What a filter leaves out is told by itself.
        let skipped = totals.skipped - totals.filtered
        if skipped > 0 { line += "; \(Quantities.counted(skipped, "file")) skipped (not photos)" }
        var lines = terminal.wrapped(line)
        if totals.missing > 0 {
            let photos = Quantities.counted(totals.missing, "photo")
            lines += terminal.wrapped("\(photos) not in the folders, and still stored")
        }
        for tier in report.tiers {
            let table = Table(indent: 2, .left(20), .right(10), .left(8), .right(12))
            let objects = Quantities.count(tier.objects)
            lines +=
                isNarrow
                ? terminal.wrapped(
                    "\(tier.storageClass): \(objects) objects, \(Quantities.bytes(tier.bytes))", indent: 2)
                : [table.row(tier.storageClass, objects, " objects", Quantities.bytes(tier.bytes))]
            lines += expectation(of: tier)
        }
        lines += originalLines
        if let oldest = report.verification.oldest {
            let which = report.broken > 0 ? "All other stored objects" : "All stored objects"
            let age = now.timeIntervalSince(oldest)
            let when =
                age < 1 || oldest.isAhead(of: now)
                ? Quantities.ago(oldest, now: now) : "within the last \(Quantities.span(.seconds(age)))"
            lines += terminal.wrapped("\(which) were verified \(when)")
        }
        if let compared = report.store.comparedAt {
            lines += terminal.wrapped(
                "Last compared with the listing of the store \(Quantities.ago(compared, now: now))")
        }
        if report.verification.unread > 0 {
            let files = Quantities.counted(report.verification.unread, "file is", plural: "files are")
            lines += terminal.wrapped(
                "\(files) known by size and time alone, since a rebuild; each day's verification reads some of them")
        }
        return lines + restoreLines + guestLines
    }

    private var originalLines: [String] {
        let originals = report.originals
        if originals.keep == OriginalsPolicy.off.rawValue {
            guard report.totals.uploaded > 0 else { return [] }
            return terminal.wrapped(
                "Larger photos are stored reduced, and smaller JPEG files encoded again where that saves a tenth; "
                    + "their own bytes are on this disk alone (photos.keep_originals)", .dim)
        }
        let kept = "\(Quantities.counted(originals.kept, "original")) kept, \(Quantities.bytes(originals.bytes))"
        return terminal.wrapped(kept)
    }

    private func expectation(of tier: StatusReport.Tier) -> [String] {
        var parts: [String] = []
        if tier.due > 0 { parts.append("\(Quantities.count(tier.due)) due for the archive") }
        if tier.tooSmall > 0 { parts.append("\(Quantities.count(tier.tooSmall)) stay, too small to be archived") }
        if parts.isEmpty { return [] }
        return terminal.wrapped(parts.joined(separator: ", "), indent: 4, .dim)
    }

    private var guestLines: [String] {
        let waiting = report.guests.waiting
        if waiting == 0 { return [] }
        let photos = Quantities.counted(waiting, "photo from guests waits", plural: "photos from guests wait")
        return terminal.wrapped("\(photos) for you (sync-agent guests)")
    }

    private var restoreLines: [String] {
        let restores = report.restores
        var parts: [String] = []
        if restores.inProgress > 0 { parts.append("\(Quantities.count(restores.inProgress)) on their way") }
        if restores.ready > 0 { parts.append("\(Quantities.count(restores.ready)) can be read") }
        if restores.failed > 0 { parts.append("\(Quantities.count(restores.failed)) failed") }
        if parts.isEmpty { return [] }
        return terminal.wrapped("Restores: \(parts.joined(separator: ", ")) (sync-agent restores)")
    }

    /// Nothing waits, nothing has failed, nothing is lost: as far as one can tell.
    private var safeLines: [String] {
        let isReachable = report.store.reachable
        let filtered = report.totals.filtered
        let files = Quantities.counted(filtered, "file")
        let exception = filtered == 0 ? "" : ", but \(files) left out by the filters"
        if let lacking {
            let stored = isReachable ? "is stored\(asOfLastPass)" : "was stored when the store was reached last"
            let every = report.store.unclearObjects == 0 ? "Every photo" : "As far as can be told, every photo"
            return terminal.wrapped("\(every) \(stored)\(exception); \(lacking).", .yellow)
        }
        guard isReachable else {
            return terminal.wrapped(
                "Everything was stored when the store was reached last. Whether it still is cannot be told.", .yellow)
        }
        return terminal.wrapped("Everything is safe\(asOfLastPass)\(exception).", .green)
    }

    /// What has come since is not known: no agent watches the folders.
    private var asOfLastPass: String {
        guard !report.agent.running, let oldest = report.folders.compactMap(\.scannedAt).min() else { return "" }
        return ", as of the last pass at \(Quantities.time(oldest))"
    }

    /// What is not in the store yet besides photos, or of which nobody can tell, as after a pass of unknown age; `nil`
    /// where all of it is there.
    private var lacking: String? {
        // Why stands beside the names, above.
        let names = report.catalog.problem == nil ? nil : "the catalogue of their names is not up to date"
        let unclear = report.store.unclearObjects
        let disks = report.disks.compactMap(\.words).map { "\($0.escapingControls): new photos may have to wait" }
        let ahead = report.passAhead(of: now).map { "the last pass was at \(Quantities.ahead($0))" }
        let others = [
            lackingOriginals, names, ahead,
            unclear == 0
                ? nil
                : "\(Quantities.counted(unclear, "object")) could not be looked at in the store (sync-agent status "
                    + "--refresh, or verify, tells why)",
        ].compactMap(\.self)
        let parts = others + disks
        return parts.isEmpty ? nil : parts.joined(separator: ", and ")
    }

    private var lackingOriginals: String? {
        let originals = report.originals
        if originals.waiting == 0 { return nil }
        let waiting = Quantities.counted(originals.waiting, "original is", plural: "originals are")
        return "\(waiting) not kept yet (\(Quantities.bytes(originals.waitingBytes)))"
    }

    private var unsafeLines: [String] {
        let totals = report.totals
        let problems = report.folders.compactMap(\.problem)
        let elsewhere = report.elsewhere
        let guests = report.guests.problem.map { "photos of guests cannot be taken in: \($0)" }
        let isWrong = totals.pending + totals.failed + totals.lost + problems.count + report.broken > 0
        let shares = report.shares.words
        guard isWrong || guests != nil || shares != nil else {
            guard totals.files > 0, totals.leftOut == 0 else {
                // It stands nowhere else.
                return lackingOriginals.map { [""] + terminal.wrapped("\($0).", .yellow) } ?? []
            }
            return [""] + safeLines
        }
        var lines = ["", terminal.styled("Not safe yet", .bold)]
        for problem in problems + [guests, shares].compactMap(\.self) {
            lines += terminal.wrapped(problem, indent: 2, .yellow)
        }
        let named = Set(failed.map(\.path.text) + report.delayed.map(\.path))
        var unnamedWaiting = totals.pending - report.delayed.count
        if let oldest = report.oldestUnsynced, !named.contains(oldest.path) {
            unnamedWaiting -= 1
            lines += item(oldest.path, oldest.why + ", since \(Quantities.ago(oldest.since, now: now))")
        }
        for photo in report.delayed { lines += item(photo.path, photo.why + nextTry(of: photo)) }
        lines += more(unnamedWaiting, "that wait: sync-agent status FOLDER lists them")
        for photo in failed { lines += item(photo.path.text, photo.why ?? "") }
        lines += more(totals.failed - failed.count, "that failed: sync-agent status FOLDER lists them")
        for photo in lost { lines += item(photo.path.text, "lost: " + (photo.why ?? "")) }
        for object in lostObjects {
            let what = object.problem.map { "lost: what was stored of it \($0.words)" } ?? "lost"
            lines += item(object.key.rawValue, what)
        }
        let unnamedLost = totals.lost - lost.count - lostObjects.count
        lines += more(unnamedLost, "that are lost: sync-agent status FOLDER lists them")
        for damage in elsewhere.prefix(Self.notesShown) { lines += item(damage.path ?? damage.key, damage.why) }
        lines += more(
            elsewhere.count - Self.notesShown, "of machines that are silent: sync-agent status --json names them")
        lines += brokenLines
        if totals.lost > 0 {
            lines += terminal.wrapped("To stop reporting what is lost: sync-agent forget PATH", indent: 2)
        }
        return lines
    }

    /// As originals. What is lost is told by its places.
    private var brokenLines: [String] {
        let count = report.broken - report.elsewhere.count - brokenOfLost
        let words = StatusReport.words(ofBroken: count, copies: copiesToMakeAnew)
        return words.map { terminal.wrapped($0, indent: 2, .yellow) } ?? []
    }

    private var leftOutLines: [String] {
        let (count, notes) = (report.totals.leftOut, report.notes.prefix(Self.notesShown))
        let filtered = report.totals.filtered
        guard count + filtered > 0 else { return [] }
        var lines = ["", terminal.styled("Left out, and not stored", .bold)]
        if filtered > 0 {
            lines += terminal.wrapped(
                "\(Quantities.counted(filtered, "file")) by the filters of their folders (watch[].filter)", indent: 2)
        }
        for note in notes { lines += item(note.path, note.reason) }
        // One note may stand for several elements of a file.
        if report.notes.count > notes.count {
            lines += terminal.wrapped(
                "and more, \(Quantities.count(count)) in all: sync-agent status --json names them", indent: 2)
        }
        return lines
    }

    private func nextTry(of photo: StatusReport.Delayed) -> String {
        let tries = Quantities.counted(photo.attempts, "try", plural: "tries")
        guard let next = photo.nextTryAt, next > now else { return " (\(tries), the next one is due)" }
        return " (\(tries), the next one in \(Quantities.span(.seconds(next.timeIntervalSince(now)))))"
    }

    /// Nothing where all of them are named.
    private func more(_ count: Int, _ words: String) -> [String] {
        count > 0 ? terminal.wrapped("and \(Quantities.count(count)) more \(words)", indent: 2) : []
    }

    private func item(_ path: String, _ why: String) -> [String] {
        ["  " + TextLayout.shortened(abbreviated(path), to: width - 2)]
            + terminal.wrapped(why.escapingControls, indent: 6, .yellow)
    }

    private func abbreviated(_ path: String) -> String {
        let path = path.escapingControls
        guard let home, !home.isEmpty, path == home || path.hasPrefix(home + "/") else { return path }
        return "~" + String(path.dropFirst(home.count))
    }
}
