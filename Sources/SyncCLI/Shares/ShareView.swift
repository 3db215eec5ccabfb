import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncQR
import SystemPackage

/// `share --json`. The fields are a contract: docs/commands.md.
struct ShareReport: Encodable {
    /// `null` with `--dry-run`, of what is not shared yet.
    @Nullable var shareId: String?
    @Nullable var link: String?
    /// `null` also where nobody knows: `linkLimit` says why.
    @Nullable var linkEndsAt: Date?
    /// Why the link ends before the share does.
    @Nullable var linkLimit: String?
    var expiresAt: Date
    var photoCount: Int
    var bytes: Int64
    /// Of the restores that it needs, about.
    var estimatedCostUSD: Double
    /// The page that browsers open.
    @Nullable var page: String?
    /// `planned` with `--dry-run`.
    var state: String
    /// The restore that it waits for.
    @Nullable var restoreJob: String?
    var skipped: [PathRemark]
    /// What opens with the message ready to be sent.
    @Nullable var message: String?
    /// What a person should know, such as another share of the same photos.
    var notes: [String]

    /// - Parameter photos: those of the share.
    init(_ share: ShareRecord, photos: [SharePhoto], _ proposal: ShareProposal, costUSD: Double, message: String?) {
        self.init(proposal, costUSD: costUSD)
        shareId = share.id.description
        link = share.link?.url
        linkEndsAt = share.link.flatMap { $0.isEndKnown ? $0.endsAt : nil }
        linkLimit = share.link?.limit
        expiresAt = share.expiresAt
        photoCount = share.photoCount
        page = link.flatMap { $0.hasPrefix("http") ? $0 : nil }
        state = share.state.rawValue
        restoreJob = share.state == .live ? nil : share.restoreJob?.description
        skipped += Self.failures(photos.filter { !proposal.explains($0) })
        if let stored = Self.bytes(photos) { bytes = stored }
        self.message = message
    }

    init(_ proposal: ShareProposal, costUSD: Double) {
        expiresAt = proposal.expiresAt
        photoCount = proposal.items.count
        bytes = proposal.bytes
        estimatedCostUSD = costUSD.roundedUSD
        state = "planned"
        skipped = proposal.skipped.map { PathRemark($0.photo.path, $0.reason) }
        shareId = proposal.existing?.id.description
        notes = proposal.notes
    }

    /// Why some of its photos could not be made ready.
    static func failures(_ photos: [SharePhoto]) -> [PathRemark] {
        photos.filter { $0.position != nil }.compactMap { photo in photo.failure.map { PathRemark(photo.path, $0) } }
    }

    /// Of all copies, once they are all there.
    private static func bytes(_ photos: [SharePhoto]) -> Int64? {
        let shared = photos.filter { $0.position != nil && $0.failure == nil }
        guard shared.allSatisfy({ $0.copy != nil }) else { return nil }
        return shared.reduce(0) { $0 + ($1.copy?.size ?? 0) }
    }
}

/// A share, for people.
struct ShareView {
    private static let photosShown = 3
    private static let table = Table(.left(10), .left(20, gap: 2), .left(24), .right(6, gap: 2), .rest)

    let terminal: Terminal
    let now: Date

    // MARK: Before

    /// What would be shared.
    /// - Parameter showsAll: every photo with its number, and not only the first three.
    func proposal(_ proposal: ShareProposal, showsAll: Bool) -> [String] {
        let vacation = proposal.order.vacation
        let shown = showsAll ? proposal.items.count : Self.photosShown
        let films = proposal.items.count { $0.photo.object.flatMap { FilmType(contentType: $0.contentType) } != nil }
        var lines = [
            terminal.styled(proposal.draft.location.escapingControls, .bold)
                + ", \(Self.days(vacation.startDate, vacation.endDate)): "
                + "\(Self.contents(proposal.items.count, films: films)), about \(Quantities.bytes(proposal.bytes))"
        ]
        lines += proposal.items.prefix(shown).map { photo($0.number, $0.photo) }
        if proposal.items.count > shown { lines.append("        and \(proposal.items.count - shown) more") }
        lines += skipped(proposal.skipped.map { ($0.photo.name, $0.reason) })
        switch proposal.change {
        case .new: break
        case .none: lines.append("It is shared already, as it is now.")
        case .goesOn: lines.append("Resuming an unfinished share.")
        case .update(let added, let removed):
            lines.append(
                added + removed == 0
                    ? "It is shared already; the share is brought up to date."
                    : "It is shared already; \(Quantities.counted(added, "photo")) will be added, \(removed) removed.")
        }
        let from = proposal.draft.sharedBy.map { ", from \($0.escapingControls)" } ?? ""
        lines += terminal.wrapped(
            "Without positions, serial numbers and maker notes\(from), until \(Quantities.time(proposal.expiresAt)).")
        lines += proposal.notes.flatMap { terminal.wrapped($0.escapingControls) }
        return lines
    }

    /// - Parameter count: with the films.
    private static func contents(_ count: Int, films: Int) -> String {
        let (photos, told) = (Quantities.counted(count - films, "photo"), Quantities.counted(films, "film"))
        if films == 0 { return photos }
        return films == count ? told : "\(photos) and \(told)"
    }

    /// All photos of a vacation with their numbers, for those who have to choose.
    func list(_ vacation: Vacation) -> [String] {
        vacation.photos.enumerated().map { photo($0.offset, $0.element) }
    }

    private func photo(_ number: Int, _ photo: VacationPhoto) -> String {
        let when = photo.takenAt.map { "\($0.day) \($0.hourAndMinute)" } ?? ""
        return Table(.right(6, gap: 2), .left(18), .rest).row(
            "\(number)", when, TextLayout.shortened(photo.name.escapingControls, to: max(terminal.width - 27, 30)))
    }

    private func skipped(_ photos: [(name: String, reason: String)]) -> [String] {
        guard !photos.isEmpty else { return [] }
        let byReason = Dictionary(grouping: photos, by: \.reason)
        return byReason.sorted { $0.key < $1.key }.flatMap { reason, photos in
            let names = photos.prefix(Self.photosShown).map(\.name.escapingControls).joined(separator: ", ")
            let more = photos.count > Self.photosShown ? " and \(photos.count - Self.photosShown) more" : ""
            return [terminal.styled("not shared", .yellow) + "  \(names)\(more)"]
                + terminal.wrapped(reason.escapingControls, indent: 6)
        }
    }

    // MARK: After

    /// - Parameter agentRuns: whether somebody is there who publishes what waits.
    func result(
        _ share: ShareRecord, photos: [SharePhoto], wasThere: Bool, message: String?, agentRuns: Bool
    ) -> [String] {
        let failures = ShareReport.failures(photos)
        var lines = skipped(failures.map { ($0.path, $0.reason) })
        guard share.state == .live, let link = share.link else { return lines + waiting(share, agentRuns) }
        let films = photos.count { $0.position != nil && $0.copy?.film != nil }
        let count = Self.contents(share.photoCount, films: films)
        lines.append(
            wasThere
                ? "Shared already, nothing had to be sent: \(count)" : terminal.styled("Shared", .green) + ": \(count)")
        lines += ["", link.url.escapingControls, ""]
        // For whoever sits at it: a camera reads the link from the screen.
        if terminal.isInteractive, link.url.hasPrefix("http"), let code = QRCode(link.url), code.side <= terminal.width
        {
            lines += code.lines + [""]
        }
        lines += terminal.wrapped(Self.end(of: share, link))
        lines += terminal.wrapped(Self.reach(of: share.id, link.url))
        lines.append("  sync-agent mirror \(link.url.asShellWord) FOLDER")
        if let message { lines += ["", "To send it, open:", "  " + message.escapingControls] }
        return lines
    }

    private func waiting(_ share: ShareRecord, _ agentRuns: Bool) -> [String] {
        let job = share.restoreJob.map { " Follow it with: sync-agent restores \($0)." } ?? ""
        let next =
            agentRuns
            ? "The agent publishes it when they are there; sync-agent shares shows the link then."
            : "No agent is running: start sync-agent run, which publishes it when they are there, or run sync-agent sync "
                + "then. sync-agent shares shows the link."
        let message = share.recipient == nil ? "" : " The message to send is there, too."
        return terminal.wrapped("Share \(share.id) waits for photos from the archive.\(job) \(next)\(message)")
    }

    /// When a link ends, and why then.
    static func end(of share: ShareRecord, _ link: StoreLink) -> String {
        let shareEnd = Quantities.time(share.expiresAt)
        guard link.isEndKnown else {
            return
                "When this link ends is not known: \(link.limit ?? "the store does not say"). It may be within the hour. The "
                + "share itself ends at \(shareEnd). As long as sync-agent run is at work, sync-agent shares shows newer links."
        }
        guard link.endsAt < share.expiresAt else {
            let limit = link.limit.map { " (\($0))" } ?? ""
            return "The link works until \(shareEnd), when the share ends and its photos are removed\(limit)."
        }
        return
            "This link works until \(Quantities.time(link.endsAt)) at the latest: \(link.limit ?? "the store lets links end then"). "
            + "The share itself ends at \(shareEnd). As long as sync-agent run is at work, sync-agent shares shows newer "
            + "links."
    }

    /// Who can open a link.
    private static func reach(of share: ShareID, _ link: String) -> String {
        guard link.hasPrefix("http") else {
            return "Whoever has this store in their configuration gets the photos with:"
        }
        guard link.hasSuffix("/s/\(share)/") else {
            return "Whoever has the link can see the photos. To have them as files:"
        }
        return
            "Whoever has the link, and can reach this machine by it, can see the photos while the gallery is shown "
            + "(serve.enabled, or sync-agent serve). To have them as files:"
    }

    // MARK: The list

    func list(_ shares: [ShareListReport.Share]) -> [String] {
        guard !shares.isEmpty else { return ["Nothing is shared yet. Share a vacation with: sync-agent share NAME"] }
        if isNarrow { return shares.flatMap(entry) }
        let head = Self.table.row("state", "location", "dates", "photos", "ends")
        return [terminal.styled(head, .bold)] + shares.flatMap(entry)
    }

    private var isNarrow: Bool { terminal.isNarrow(for: 80) }

    private func row(_ share: ShareListReport.Share) -> [String] {
        let location = share.location.escapingControls
        let days = Self.days(share.startDate, share.endDate)
        let (isOver, end) = (share.endedAt != nil, Quantities.time(share.endedAt ?? share.expiresAt))
        guard isNarrow else {
            return [Self.table.row(share.state, location, days, share.photoCount.map { "\($0)" } ?? "-", end)]
        }
        return terminal.wrapped("\(share.state)  \(location)")
            + terminal.wrapped(
                [
                    days, share.photoCount.map { Quantities.counted($0, "photo") },
                    "\(isOver ? "ended" : "ends") \(end)",
                ].compactMap(\.self).joined(separator: ", "), indent: 2)
    }

    private func entry(_ share: ShareListReport.Share) -> [String] {
        var lines = row(share)
        // Neither is broken: both are to be copied.
        lines.append(isNarrow ? "  \(share.shareId)" : "  id    \(share.shareId)")
        if !share.machine.isThis {
            lines += terminal.wrapped(
                "of the machine \((share.machine.name ?? share.machine.id).escapingControls)", indent: isNarrow ? 2 : 8)
        }
        if let name = share.revokedBy {
            lines += terminal.wrapped("revoked on the machine \(name.escapingControls)", indent: isNarrow ? 2 : 8)
        }
        if let link = share.link?.escapingControls {
            lines.append(isNarrow ? link : "  link  \(link)")
            if let end = share.linkEndsAt, end < share.expiresAt {
                lines += terminal.wrapped(
                    end <= now
                        ? "this link ended at \(Quantities.time(end)); "
                            + (share.machine.isThis
                                ? "sync-agent share gives a new one" : "the machine that has it makes new ones")
                        : "this link works until \(Quantities.time(end))", indent: 8)
            }
        }
        if let changes = share.changes { lines += terminal.wrapped(changes, indent: 8, .yellow) }
        if let message = share.message { lines.append("  send  \(message.escapingControls)") }
        if let problem = share.problem {
            lines += terminal.wrapped(problem.escapingControls, indent: 8, .yellow)
        }
        return lines
    }

    private static func days(_ start: CalendarDay, _ end: CalendarDay) -> String {
        start == end ? "\(start)" : "\(start) to \(end)"
    }
}

/// By what a link is sent.
enum ShareChannel: String, ExpressibleByArgument, CaseIterable {
    case whatsapp, sms, email

    /// On a button.
    var title: String {
        switch self {
        case .whatsapp: "WhatsApp"
        case .sms: "SMS"
        case .email: "Mail"
        }
    }

    /// What opens a message in the program of this channel, ready to be sent.
    /// - Parameter person: a number in E.164, or an address; empty where whoever sends it chooses.
    func address(to person: String = "", subject: String, text: String) -> String {
        let text = text.uriEncoded()
        return switch self {
        case .whatsapp: "https://wa.me/\(person.dropFirst())?text=\(text)"
        // RFC 5724.
        case .sms: "sms:\(person)?body=\(text)"
        // RFC 6068: lines end in CRLF, and the @ stays.
        case .email:
            "mailto:\(person.split(separator: "@").map { $0.uriEncoded() }.joined(separator: "@"))"
                + "?subject=\(subject.uriEncoded())&body=\(text)"
        }
    }
}

/// Who gets a link, and by what.
struct ShareRecipient: Hashable, Sendable {
    let channel: ShareChannel
    /// A number in E.164, or an address.
    let person: String
}

extension ShareRecipient {
    /// - Parameter region: whose numbers need no country code.
    /// - Throws: ``CommandFailure`` with the reason.
    init(_ text: String, via channel: ShareChannel, region: String?, numbers: any PhoneNumbers) throws {
        self.init(channel: channel, person: try channel == .email ? text : numbers.typed(text, region: region).e164)
        guard channel != .email || Self.isAddress(text) else {
            throw CommandFailure.usage(
                "\"\(text.escapingControls)\" is no e-mail address; write it as name@example.org")
        }
    }

    /// Something, an @, and a host; whether it exists only sending shows.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, text.utf8.count <= 254,
            text.unicodeScalars.allSatisfy({
                $0.value > 32 && $0.value != 127 && !"<>()[]\\,;:\"".unicodeScalars.contains($0)
            })
        else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasSuffix("-") }
    }

    /// As the ledger keeps it until the share is over: a share may wait for hours before there is a link.
    var note: String { "\(channel.rawValue):\(person)" }

    init?(note: String) {
        guard let colon = note.firstIndex(of: ":"), let channel = ShareChannel(rawValue: String(note[..<colon])) else {
            return nil
        }
        self.init(channel: channel, person: String(note[note.index(after: colon)...]))
    }
}

extension PhoneNumbers {
    /// A number as somebody has typed it.
    /// - Throws: ``CommandFailure`` with the reason.
    func typed(_ text: String, region: String?) throws -> PhoneNumber {
        do {
            return try parse(text, region: region)
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }
}

/// The message about a share that somebody is to get, ready to be sent.
enum ShareMessage {
    /// What opens with the message in it; `nil` as long as there is no link, and where nobody was named.
    static func address(_ share: ShareRecord) -> String? {
        guard share.state == .live, let link = share.link else { return nil }
        return share.recipient.flatMap { ShareRecipient(note: $0) }.map {
            $0.channel.address(to: $0.person, subject: subject(share), text: text(share, link.url))
        }
    }

    /// Addresses that open the message in what a person sends with, who chooses to whom there: by what, and where.
    /// - Parameter url: the link to tell.
    static func addresses(_ share: ShareRecord, _ url: String) -> [(channel: ShareChannel, address: String)] {
        ShareChannel.allCases.map { ($0, $0.address(subject: subject(share), text: text(share, url))) }
    }

    private static func subject(_ share: ShareRecord) -> String { "Photos of \(share.location)" }

    private static func text(_ share: ShareRecord, _ url: String) -> String {
        let from = share.sharedBy.map { "\($0) shares" } ?? "Here are"
        let end = share.link?.isEndKnown == true ? share.link.map { " (until \(CalendarDay($0.endsAt)))" } ?? "" : ""
        return "\(from) photos of \(share.location) with you: \(url)\(end)"
    }
}
