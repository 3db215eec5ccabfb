import ArgumentParser
import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPhone
import SyncSystem
import SystemPackage

/// What archived photos are listed and saved with. The store alone is needed: names of profiles come from the ledger where
/// there is one, and no lock is taken.
struct ArchiveServices: Sendable {
    let workspace: Workspace
    /// With retries.
    let store: any ObjectStore
    let list: ArchiveListing
    let book: ProfileBook

    init(_ workspace: Workspace) async throws {
        let installation = workspace.installation
        let share = installation.settings.share
        let (ledger, known) = try await Self.openLedger(workspace)
        self.workspace = workspace
        store = workspace.keep(try installation.makeReadStore(ledger?.ledger))
        list = ArchiveListing(
            store: store, keys: try installation.keys,
            index: ledger.map { ArchiveIndex(ledger: $0, time: workspace.time) })
        book =
            known
            ?? ProfileBook(
                [], phones: LibPhoneNumbers(), region: share.phoneRegion,
                // Without a ledger nothing was ever given one here.
                pseudonyms: Pseudonyms(key: [0]))
    }

    /// - Parameter last: the key of the last photo of the page before.
    func page(_ options: ArchiveOptions, after last: String?, limit: Int?) async throws -> ArchivePage {
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        do {
            let page = try await list.page(
                options.filter(book), after: try last.map { try ObjectKey($0) }, limit: limit
            ) { seen in
                line.update { _ in "\(Quantities.counted(seen, "photo")) checked" }
            }
            line.finish()
            for problem in page.problems.first {
                workspace.console.errors.writeLine("\(problem.key.rawValue): \(problem.reason)".escapingControls)
            }
            if page.problems.unnamed > 0 {
                workspace.console.errors.writeLine("and \(Quantities.count(page.problems.unnamed)) more")
            }
            return page
        } catch let error as ArchiveListing.UnknownPhoto {
            throw CommandFailure.noSuchPath("\(error); list from the beginning, without --after")
        } catch let error as InvalidName {
            throw CommandFailure.usage("--after: \(error)")
        }
    }

    /// - Throws: ``LedgerError`` for one that is there and cannot be opened: it has the profiles, and what is merged, and
    ///   without that another list would be told as the whole one.
    private static func openLedger(_ workspace: Workspace) async throws -> (LedgerQueue?, ProfileBook?) {
        let found = Result { () throws(Errno) in try FileStatus.find(workspace.installation.ledgerFile) }
        // Nothing was ever stored, or looked up, from this machine. Any other reason, as a link that leads nowhere, tells
        // whoever opens it.
        if case .success(.none) = found { return (nil, nil) }
        let (ledger, share) = (try await workspace.ledger, workspace.settings.share)
        do {
            return (ledger, try await ledger { try $0.profileBook(share) })
        } catch {
            workspace.logger.warning("names of profiles cannot be shown: \(error)")
            return (nil, nil)
        }
    }
}

/// Which archived photos a command is about.
struct ArchiveOptions: ParsableArguments {
    @Option(help: "Only this profile: its id, its telephone number or its name.")
    var profile: String?

    @Option(help: ArgumentHelp("Only events created on this day or later, UTC.", valueName: "yyyy-mm-dd"))
    var from: CalendarDay?

    @Option(help: ArgumentHelp("Only events created on this day or earlier, UTC.", valueName: "yyyy-mm-dd"))
    var to: CalendarDay?

    @Option(help: "Only events of this type, such as taskResponse.")
    var type: GalleryEventType?

    func validate() throws {
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
        if let profile, profile.isEmpty { throw ValidationError("--profile takes an id, a number or a name") }
    }

    func filter(_ book: ProfileBook) -> ArchiveFilter {
        // The id of a known profile is in its one form already.
        let ignoresCase = profile.map { !book.isKnown($0) } ?? false
        return ArchiveFilter(
            profiles: profile.map { book.keyNames(of: $0) }, ignoresCase: ignoresCase, from: from, to: to, type: type)
    }
}

extension CalendarDay: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension GalleryEventType: ExpressibleByArgument {}

/// `archive list --json`: the fields are a contract (docs/commands.md).
struct ArchiveReport: Encodable {
    struct Photo: Encodable {
        var key: String
        /// Whose it is now; the key may have one that was merged into it.
        var profile: String
        @Nullable var profileName: String?
        var eventId: String
        @Nullable var eventType: String?
        var createdAt: Date
        @Nullable var archivedAt: Date?
        var size: Int64
        var storageClass: String
        @Nullable var badge: Badge?
        @Nullable var title: String?
        @Nullable var width: Int?
        @Nullable var height: Int?
    }

    var photos: [Photo]
    /// What `--after` takes for the next page; `null` on the last.
    @Nullable var next: String?
    /// What is in the archive and could not be looked at.
    var problems: [KeyRemark]

    init(_ page: ArchivePage, _ book: ProfileBook) {
        problems = page.problems.first.map { KeyRemark($0.key, $0.reason) }
        let names = book.names
        photos = page.photos.map { photo in
            Photo(photo, of: book.current(photo.place.profile), named: names[photo.place.profile.inBytes])
        }
        next = page.next?.rawValue
    }
}

extension ArchiveReport.Photo {
    init(_ memory: ArchivedGalleryPhoto, of profile: String, named name: String?) {
        self.init(
            key: memory.key.rawValue, profile: profile, profileName: name, eventId: memory.eventID,
            eventType: memory.type?.rawValue, createdAt: memory.createdAt, archivedAt: memory.archivedAt,
            size: memory.size, storageClass: memory.storageClass.rawValue, badge: Badge(memory), title: memory.title,
            width: memory.width, height: memory.height)
    }
}

extension Badge {
    /// None for what is readable.
    init?(_ memory: ArchivedGalleryPhoto) { self.init(rawValue: memory.status.rawValue) }
}

/// Archived photos for people: a line for what is stored of each, and one for its event.
struct ArchiveView {
    private static let table = Table(.left(18), .left(18), .right(10, gap: 2), .left(14), .rest)
    /// Columns of an event's id, which is whole if it is longer, and of its type.
    private static let (idColumns, typeColumns) = (38, 16)
    /// Columns that a title gets in any case.
    private static let shortestTitle = 12

    let terminal: Terminal
    /// Names of profiles, by what stands in keys.
    let names: [ByteString: String]

    func list(_ page: ArchivePage) -> [String] {
        guard !page.photos.isEmpty else { return ["No archived photos match."] }
        let head = Self.table.row("date (UTC)", "profile", "size", "class", "")
        var lines = [terminal.styled(head, .bold)]
        lines.append(terminal.styled(Self.eventRow("event", "type", "title"), .bold))
        lines += page.photos.flatMap { [line($0), eventLine($0)] }
        let count = Quantities.counted(page.photos.count, "photo")
        lines.append(terminal.styled(page.next == nil ? count : "\(count), and there are more", .dim))
        if let next = page.next {
            lines.append("The next ones: the same command with --after \(next.rawValue.asShellWord)")
        }
        return lines
    }

    private func line(_ memory: ArchivedGalleryPhoto) -> String {
        let badge = Badge(memory).map { terminal.hasStyle ? "\($0.symbol) \($0.rawValue)" : $0.rawValue }
        return Self.table.row(
            Self.moment(memory.createdAt),
            (names[memory.place.profile.inBytes] ?? memory.place.profile).escapingControls,
            Quantities.bytes(memory.size), memory.storageClass.rawValue.escapingControls, badge ?? "")
    }

    private func eventLine(_ memory: ArchivedGalleryPhoto) -> String {
        let row = Self.eventRow(memory.eventID.escapingControls, memory.type?.rawValue ?? "", "")
        guard let title = memory.title?.escapingControls else { return row }
        let used = max(TextLayout.width(row) + 2, 2 + Self.idColumns + Self.typeColumns)
        let shown = TextLayout.shortened(title, to: max(terminal.width - used, Self.shortestTitle))
        return Self.eventRow(memory.eventID.escapingControls, memory.type?.rawValue ?? "", shown)
    }

    private static func eventRow(_ id: String, _ type: String, _ title: String) -> String {
        func cell(_ text: String, _ columns: Int) -> String {
            TextLayout.fitted(text, to: max(columns, TextLayout.width(text) + 2))
        }
        let row = "  " + cell(id, idColumns) + cell(type, typeColumns) + title
        return String(row.reversed().drop { $0 == " " }.reversed())
    }

    /// `2025-10-20 08:15`
    private static func moment(_ date: Date) -> String {
        String(date.formatted(.iso8601).replacing("T", with: " ").prefix(16))
    }
}

/// `archive download --json`.
struct ArchiveDownloadReport: Report {
    struct Failure: Encodable {
        var key: String
        var message: String
    }

    /// The folder, or the zip file.
    var destination: String
    /// Photos that are there now and were not before.
    var saved = 0
    var alreadyThere = 0
    /// Keys of photos whose name another file has; it stayed.
    var kept: [String] = []
    var failed: [Failure] = []
    /// What has to be restored first, and what is on its way.
    var archived: Int
    var retrieving: Int
    @Nullable var restore: RestoreReport?
    /// Photos that could not be looked at, besides those in `failed`.
    @Untold var unnamed = 0

    init(
        _ destination: FilePath, _ memories: [ArchivedGalleryPhoto], _ outcomes: [ArchiveDownload.Outcome],
        of all: ArchivePage, restore: RestoreReport?
    ) {
        self.destination = destination.text
        archived = all.photos.count { $0.status == .archived }
        retrieving = all.photos.count { $0.status == .retrieving }
        self.restore = restore
        failed = all.problems.first.map { Failure(key: $0.key.rawValue, message: $0.reason) }
        unnamed = all.problems.unnamed
        for (memory, outcome) in zip(memories, outcomes) {
            switch outcome {
            case .success(.saved): saved += 1
            case .success(.alreadyThere), .success(.originalThere): alreadyThere += 1
            case .success(.kept): kept.append(memory.key.rawValue)
            case .failure(let error): note(error, memory)
            }
        }
    }

    private mutating func note(_ error: any Error, _ memory: ArchivedGalleryPhoto) {
        if let error = error as? StoreError, error.code == .archived {
            // The store's rules have moved it since it was listed.
            archived += 1
        } else {
            failed.append(Failure(key: memory.key.rawValue, message: "\(error)"))
        }
    }

    var status: ExitStatus {
        if let restore, restore.status != .done { return .partlyDone }
        return kept.isEmpty && failed.isEmpty ? .done : .partlyDone
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines = failed.flatMap { failure in
            [terminal.styled("failed", .red) + "  " + failure.key.escapingControls]
                + terminal.wrapped(failure.message.escapingControls, indent: 8)
        }
        if unnamed > 0 { lines.append("and \(Quantities.count(unnamed)) more") }
        lines += kept.map { "\($0.escapingControls): another file has its name there; it was kept" }
        var sum = "\(Quantities.counted(saved, "photo")) saved in \(destination.escapingControls)"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        lines.append(sum)
        var rest: [String] = []
        if archived > 0, restore == nil {
            rest.append(
                "\(Quantities.counted(archived, "photo")) left out: in the archive. Request them with --restore.")
        }
        if retrieving > 0 {
            rest.append("\(Quantities.counted(retrieving, "photo")) left out: on the way from the archive.")
        }
        if retrieving > 0 || restore != nil {
            rest.append("When they are available, run the same command again; follow them with: sync-agent restores")
        }
        return lines + rest.flatMap { terminal.wrapped($0) }
    }
}
