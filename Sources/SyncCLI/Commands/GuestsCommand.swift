import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct GuestsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "guests",
        abstract: "Show what guests have added to shares, and accept or refuse it.",
        usage: "sync-agent guests [<share>] [<options>]",
        discussion: """
            Whoever has the link of a share that was made with --guests can add photos on its page. They are kept on this \
            machine, also after the share has ended, and nobody sees them before they are accepted. What is accepted \
            becomes a file of the vacation, and is stored as any other; share the vacation again to show it to all.

            EXAMPLES
              sync-agent guests                                what is waiting
              sync-agent guests --refresh                      ask the store first
              sync-agent guests 5f0c…  --accept                all that waits of one share
              sync-agent guests 5f0c…  --refuse --photos 2,5-7
            """
    )

    @Argument(help: ArgumentHelp("A share, by its id or link.", valueName: "share"))
    var share: String?

    @Flag(help: "Put the photos into the folder of the vacation.")
    var accept = false

    @Flag(help: "Delete the photos.")
    var refuse = false

    @Option(help: ArgumentHelp("Only these, by number, such as 0,2-5.", valueName: "numbers"))
    var photos: PhotoSelection?

    @Option(help: ArgumentHelp("Accept into another folder.", valueName: "dir"), completion: .directory)
    var into: OutputArgument?

    @Flag(help: "Ask the store now for what guests have sent.")
    var refresh = false

    @OptionGroup var options: AnswerOptions

    var isQuery: Bool { !refresh && !accept && !refuse }

    func validate() throws {
        if accept, refuse { throw ValidationError("--accept and --refuse exclude each other") }
        if accept || refuse, share == nil { throw ValidationError("say of which share: sync-agent guests lists them") }
        if photos != nil, !accept, !refuse { throw ValidationError("--photos goes with --accept or --refuse") }
        if into != nil, !accept { throw ValidationError("--into goes with --accept") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let id = try share.map(SharesCommand.id)
        let into = try into?.path(workspace.installation)
        let ledger = try await workspace.ledger
        let isWhole = refresh ? try await takeIn(ledger, workspace) : true
        guard let id else {
            return try await answer(try await ledger { try $0.waitingGuestPhotos() }, ledger, isWhole: isWhole)
        }
        let all = try await ledger { try $0.guestPhotos(of: id) }
        guard accept || refuse else { return try await answer(all, ledger, isWhole: isWhole) }
        let chosen = try chosen(of: all)
        let decisions = workspace.guestDecisions(ledger)
        var problems: [GuestDecisions.Problem] = []
        if refuse {
            try await decisions.refuse(chosen)
        } else {
            let known = try await ledger { try $0.share(id) }
            guard let folder = into ?? known?.folder else {
                throw CommandFailure.usage("nothing is known of the share any more: say --into which folder")
            }
            problems = try await decisions.accept(chosen, into: folder, isChosen: into != nil)
        }
        let slots = Set(chosen.map(\.slot))
        return try await answer(
            try await ledger { try $0.guestPhotos(of: id) }.filter { slots.contains($0.slot) }, ledger, problems,
            isWhole: isWhole)
    }

    /// Of shares that can be seen, and of those that are over, too, of which something could not be taken in.
    /// - Returns: whether everything is in; what is not, is named.
    private func takeIn(_ ledger: LedgerQueue, _ workspace: Workspace) async throws -> Bool {
        let services = try await ShareServices(RestoreServices(workspace, access: .writes))
        let (live, left) = try await ledger { ledger in
            (try ledger.unendedShares().filter { $0.state == .live }, try ledger.guestProblems())
        }
        let known = Set(live.map(\.id))
        var shares = live.map { (id: $0.id, location: $0.location) }
        for other in left where !known.contains(other.share) { shares.append((other.share, other.location)) }
        var failures: [(location: String, share: ShareID, failure: any Error)] = []
        for share in shares {
            do {
                try await services.guests.take(share.id, .asked)
            } catch let error where error.mayConcernOneItem {
                failures.append((share.location, share.id, error))
            }
        }
        let asked = Set(shares.map(\.id))
        for (share, failure) in try await services.guests.takeUpAll() where !asked.contains(share) {
            let location = try await ledger { try $0.share(share) }?.location
            failures.append((location ?? "a share that is over", share, failure))
        }
        for (location, share, failure) in failures {
            var problem = "\(failure)"
            if case ShareError.inOtherHands = failure {
                problem = "another process, such as the agent, is taking them"
            }
            let text = "\(location), share \(share): photos of guests are not taken in: \(problem)"
            workspace.console.errors.writeLine(text.escapingControls)
        }
        return failures.isEmpty
    }

    private func chosen(of all: [GuestPhoto]) throws -> [GuestPhoto] {
        let waiting = all.filter { $0.state == .waiting }
        guard let photos else {
            if waiting.isEmpty { throw CommandFailure.failed("no photo of this share waits") }
            return waiting
        }
        let wanted = waiting.filter { photos.contains($0.slot) }
        if wanted.isEmpty {
            throw CommandFailure.usage("none of these photos waits; sync-agent guests \(share ?? "") lists them")
        }
        return wanted
    }

    private func answer(
        _ photos: [GuestPhoto], _ ledger: LedgerQueue, _ problems: [GuestDecisions.Problem] = [], isWhole: Bool
    ) async throws -> Answer {
        let shares = try await ledger { ledger in
            try Dictionary(uniqueKeysWithValues: Set(photos.map(\.share)).map { ($0, try ledger.share($0)) })
        }
        let reasons = Dictionary(uniqueKeysWithValues: problems.map { ($0.photo.slot, $0.reason) })
        let report = GuestReport(
            photos: photos.map { .init($0, of: shares[$0.share] ?? nil, reason: reasons[$0.slot]) })
        return Answer(report, status: problems.isEmpty && isWhole ? .done : .partlyDone) { _ in report.lines }
    }
}

/// `guests --json`: the fields are a contract (docs/commands.md).
private struct GuestReport: Encodable {
    struct Photo: Encodable {
        var shareId: String
        @Nullable var location: String?
        /// Among those of its share, from 0.
        var number: Int
        /// `waiting`, `accepted`, `refused`.
        var state: String
        var bytes: Int64
        var contentType: String
        var receivedAt: Date
        /// Of the accepted one.
        @Nullable var path: String?
        @Nullable var reason: String?
    }

    var photos: [Photo]

    var lines: [String] {
        if photos.isEmpty { return ["No photo of a guest waits."] }
        var lines: [String] = []
        var last: String?
        for photo in photos {
            if photo.shareId != last {
                lines.append("\(photo.location?.escapingControls ?? "A share that is over")  \(photo.shareId)")
                last = photo.shareId
            }
            let fate = (photo.path ?? photo.reason).map { "  \($0.escapingControls)" } ?? ""
            lines.append(
                "  \(photo.number)  \(photo.state)  \(Quantities.bytes(photo.bytes))  "
                    + "\(Quantities.time(photo.receivedAt))\(fate)")
        }
        if photos.contains(where: { $0.state == "accepted" }) {
            lines.append("Share the vacation again to show what was accepted.")
        } else if photos.contains(where: { $0.state == "waiting" }) {
            lines.append("sync-agent guests SHARE --accept, or --refuse, decides on them.")
        }
        return lines
    }
}

extension GuestReport.Photo {
    /// - Parameter reason: why it goes on waiting.
    fileprivate init(_ photo: GuestPhoto, of share: ShareRecord?, reason: String?) {
        self.init(
            shareId: "\(photo.share)", location: share?.location, number: photo.slot, state: photo.state.rawValue,
            bytes: photo.size, contentType: photo.contentType, receivedAt: photo.receivedAt, path: photo.path?.text,
            reason: reason ?? photo.reason)
    }
}
