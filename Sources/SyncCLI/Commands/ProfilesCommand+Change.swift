import ArgumentParser
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem

struct ProfilesRenameCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Give a profile another name.",
        usage: "sync-agent profiles rename <profile> <name> [<options>]",
        discussion: """
            PROFILE is an id in any case, a telephone number, or a unique name. Names are for people: keys in the \
            store have ids.

            EXAMPLES
              sync-agent profiles rename "+1 778 814 3739" Grandma
              sync-agent profiles rename grandma "Grandma Ruth"
            """
    )

    @Argument(help: "The profile: its id, its telephone number or its name.")
    var profile: String

    @Argument(help: "Its new name.")
    var name: String

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        guard ProfilesAddCommand.isName(name) else { throw ValidationError("a name is one line of text") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let finder = try await ProfileFinder(workspace)
        let id = finder.book.current(try await finder.find(profile))
        let before = finder.book.names[id.inBytes]
        let name = name
        try await workspace.ledger { try $0.renameProfile(id, to: name) }
        await finder.updateCatalog()
        return Answer(ProfileRenameReport(id: id, name: name, before: before))
    }
}

struct ProfilesMergeCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge one profile into another.",
        usage: "sync-agent profiles merge <from> <into> [<options>]",
        discussion: """
            Events, records and archived photos of FROM belong to INTO from then on, and so do events that still \
            arrive with the id or the number of FROM. Archived photos get a key of INTO; each is verified before the \
            old object is removed. One in an archive class keeps its key until it is restored (sync-agent profiles \
            migrate), and is listed with INTO all the same. Run it again after an interruption. It asks first, since \
            it cannot be undone. It is refused while another machine of yours merges the other way round.

            FROM and INTO are ids in any case, telephone numbers, or unique names.

            EXAMPLES
              sync-agent profiles merge grandma "+1 778 814 3739" --dry-run
              sync-agent profiles merge 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D Grandma
            """
    )

    @Argument(help: "The profile to merge.")
    var from: String

    @Argument(help: "The profile that gets everything.")
    var into: String

    @OptionGroup var change: ProfileChangeOptions
    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        try await change.run(workspace) { try await answer($0, $1) }
    }

    private func answer(_ workspace: Workspace, _ finder: ProfileFinder) async throws -> Answer {
        let book = finder.book
        let given = try await finder.find(from)
        let other = book.current(try await finder.find(into))
        let before = book.current(given)
        if before.inBytes == other.inBytes, given.inBytes == other.inBytes {
            throw CommandFailure.usage(
                "\(from.escapingControls) and \(into.escapingControls) are one profile: \(other)")
        }
        if before.inBytes != given.inBytes, before.inBytes != other.inBytes {
            throw CommandFailure.failed(
                "\(given.escapingControls) was merged into \(before.escapingControls) already; merge that one")
        }
        let merge = ProfileMerge(
            store: finder.store, ledger: try await workspace.ledger, keys: finder.keys, book: book,
            agreement: try await workspace.mergeAgreement(finder.store),
            moves: try await workspace.mergedPhotos(finder.store), time: workspace.time)
        // One that was merged goes by the other's name.
        let isMerged = before.inBytes == other.inBytes
        let name = (isMerged ? given : book.names[given.inBytes] ?? given).escapingControls
        let otherName = (book.names[other.inBytes] ?? other).escapingControls
        try change.confirm(
            "Make all of \(name) part of \(otherName)? This cannot be undone.", workspace, to: "merge",
            no: "nothing was merged")
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let result = try await merge.run(given, into: other, isDryRun: change.dryRun) {
            progress.count($0, of: $1, "photo")
        }
        if !change.dryRun { await finder.updateCatalog() }
        return Answer(
            ProfileMergeReport(
                dryRun: change.dryRun, from: .init(given, book), into: .init(other, book), events: result.events,
                photos: .init(moved: result.moved, left: result.left), isMerged: isMerged))
    }
}

struct ProfilesRemoveCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget a profile without events and archived photos.",
        usage: "sync-agent profiles remove <profile> [<options>]",
        discussion: """
            Forgets its telephone number and its name. If an event, a signed-off record, an archived photo or a \
            watched folder belongs to it, nothing is removed: merge it into another profile (sync-agent profiles \
            merge). It asks first.

            EXAMPLES
              sync-agent profiles remove "+1 778 814 3739" --dry-run
              sync-agent profiles remove 0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d
            """
    )

    @Argument(help: "The profile: its id, its telephone number or its name.")
    var profile: String

    @OptionGroup var change: ProfileChangeOptions
    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        try await change.run(workspace) { try await answer($0, $1) }
    }

    private func answer(_ workspace: Workspace, _ finder: ProfileFinder) async throws -> Answer {
        let (book, id) = (finder.book, try await finder.find(profile))
        if case let other = book.current(id), other.inBytes != id.inBytes {
            throw CommandFailure.failed(
                "\(id.escapingControls) was merged into \(other.escapingControls): nothing of it is left to remove")
        }
        let ids = book.keyNames(since: id)
        let group = Set(ids.map(\.inBytes))
        let watched = workspace.settings.watch.first { folder in
            folder.profile.flatMap { book.givenKeyName($0) }.map { group.contains($0.inBytes) } ?? false
        }
        if let folder = watched {
            throw CommandFailure.failed(
                "\(folder.path.text.escapingControls) is watched for it: change watch[].profile first")
        }
        var held = try await ProfileHoldings.of(
            id, book, ledger: try await workspace.ledger, store: finder.store, keys: finder.keys)
        try await held.leaveOut(movedBy: try await workspace.mergedPhotos(finder.store), isDryRun: change.dryRun)
        guard held.isEmpty else { throw Self.refusal(id, held) }
        let report = ProfileRemovalReport(
            dryRun: change.dryRun, id: id,
            phones: book.profiles.filter { group.contains($0.uuid.inBytes) }.map(\.phone.e164),
            name: book.names[id.inBytes])
        if change.dryRun { return Answer(report) }
        try change.confirm(
            "Forget \((report.name ?? id).escapingControls) and its telephone number?", workspace, to: "remove",
            no: "nothing was removed")
        guard try await workspace.ledger.callAsFunction({ try $0.removeProfiles(ids) }) else {
            throw CommandFailure.failed("an event of it came meanwhile; nothing was removed")
        }
        await finder.updateCatalog()
        return Answer(report)
    }

    private static func refusal(_ id: String, _ held: ProfileHoldings) -> CommandFailure {
        var what: [String] = []
        if held.events > 0 { what.append(Quantities.counted(held.events, "event")) }
        if held.records > 0 { what.append("\(Quantities.counted(held.records, "event")) signed off") }
        let photos = held.photos.count + held.problems.count
        if photos > 0 { what.append(Quantities.counted(photos, "archived photo")) }
        return CommandFailure.failed(
            "\(id.escapingControls) is not empty (\(what.joined(separator: ", "))); make all of it another profile's: "
                + "sync-agent profiles merge \(id.asShellWord) PROFILE")
    }
}

/// Of commands that ask before they change whose something is.
struct ProfileChangeOptions: ParsableArguments {
    @Flag(help: "Dry run: show what would be done.")
    var dryRun = false

    @OptionGroup var consent: ConsentOptions

    /// Runs a command's body while no cleanup, and no other change of this kind, is at work.
    func run(_ workspace: Workspace, _ body: (Workspace, ProfileFinder) async throws -> Answer) async throws -> Answer {
        let lock = try await dryRun ? nil : workspace.takeCleanupLock()
        defer { withExtendedLifetime(lock) {} }
        let place = try await workspace.changing(unless: dryRun)
        return try await body(place, try await ProfileFinder(place, dryRun ? .reads : .writes))
    }

    func confirm(_ question: String, _ workspace: Workspace, to verb: String, no: String) throws {
        if dryRun || consent.yes { return }
        try Question.confirmLoss(question, on: workspace.console.people, to: verb, no: no)
    }
}

/// Finds the profiles that a command is about.
struct ProfileFinder {
    let book: ProfileBook
    let keys: KeyLayout
    private let workspace: Workspace
    private let opened: (any ObjectStore)?
    private let uses: [String]

    /// - Parameter access: `nil` where the store is asked only for what the ledger does not know.
    init(_ workspace: Workspace, _ access: LocalStoreAccess? = nil) async throws {
        let settings = workspace.settings.share
        self.workspace = workspace
        keys = try workspace.keys
        let watched = workspace.settings.watch.compactMap(\.profile)
        (book, uses) = try await workspace.ledger {
            (try $0.profileBook(settings), try $0.profileUses().map(\.profile) + watched)
        }
        opened = if let access { try await workspace.store(access) } else { nil }
    }

    /// Of those that were opened for a change.
    var store: any ObjectStore {
        guard let opened else { preconditionFailure("it was made without a store") }
        return opened
    }

    /// - Returns: what stands in keys, before any merge.
    /// - Throws: ``CommandFailure`` unless exactly one profile is meant.
    func find(_ text: String) async throws -> String {
        var match = book.find(text, among: uses)
        if match == .none {
            // It may be known by its archived photos alone.
            let store = if let opened { opened } else { try await workspace.store(.reads) }
            var archived: Set<ByteString> = []
            for try await page in store.listing(prefix: keys.galleryArchive) {
                archived.formUnion(page.objects.compactMap { ArchivedPhotoPlace($0.key, of: keys)?.profile.inBytes })
            }
            match = book.find(text, among: uses + archived.sorted().map(\.string))
        }
        let name = text.escapingControls
        switch match {
        case .one(let id): return id
        case .several(let ids):
            let list = ids.map(\.escapingControls).joined(separator: ", ")
            throw CommandFailure.usage("\(name) may be any of these profiles; give its id: \(list)")
        case .orphan(let number):
            throw CommandFailure.noSuchPath(
                "\(number) has no profile; add it with: sync-agent profiles add \(number.e164.asShellWord)"
            )
        case .unread: throw CommandFailure.noSuchPath("\(name): \(book.obstacle)")
        case .none: throw CommandFailure.noSuchPath("no profile is known as \(name); see sync-agent profiles list")
        }
    }

    /// Tells the store's catalogue at once; where that cannot be done, the next pass makes up for it.
    func updateCatalog() async {
        do {
            let store = if let opened { opened } else { try await workspace.store(.writes) }
            try await workspace.updateCatalog(store)
        } catch {
            workspace.logger.warning("the catalogue is written by the next pass: \(error)")
        }
    }
}

extension Workspace {
    /// - Throws: ``CommandFailure`` while a cleanup is at work.
    func takeCleanupLock() async throws -> AgentLock {
        // It makes the folder of the lock.
        _ = try await ledger
        do {
            return try installation.takeCleanupLock()
        } catch is AgentLock.Held {
            throw CommandFailure(.locked, "a cleanup is at work; wait for it, and run this again")
        }
    }
}
