import ArgumentParser
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
            arrive with the id or the number of FROM. Archived photos get a new key under INTO; each is verified \
            before the old object is removed. One in an archive class keeps its key until it is restored (sync-agent \
            profiles migrate), and is listed with INTO all the same. Run it again after an interruption. It asks \
            first, since it cannot be undone. It is refused while another machine of yours merges the other way \
            round.

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

    /// What it comes to.
    private struct Merge: Hashable, Sendable {
        let given: ByteString
        let other: ByteString
        /// Whether it was done before, and is gone on with.
        let isMerged: Bool
        let name: ByteString
        let otherName: ByteString
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        try await change.run(workspace) { _, finder in
            try await find(finder)
        } question: { merge in
            .init(
                text: "Make all of \(merge.name) part of \(merge.otherName)? This cannot be undone.", verb: "merge",
                no: "nothing was merged")
        } carryOut: { merge, place, finder in
            try await carryOut(merge, place, finder)
        }
    }

    private func find(_ finder: ProfileFinder) async throws -> Merge {
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
        // One that was merged goes by the other's name.
        let isMerged = before.inBytes == other.inBytes
        let name = isMerged ? given : book.names[given.inBytes] ?? given
        let otherName = book.names[other.inBytes] ?? other
        return Merge(
            given: given.inBytes, other: other.inBytes, isMerged: isMerged, name: name.escapingControls.inBytes,
            otherName: otherName.escapingControls.inBytes)
    }

    private func carryOut(_ wanted: Merge, _ workspace: Workspace, _ finder: ProfileFinder) async throws -> Answer {
        let (book, given, other) = (finder.book, wanted.given.string, wanted.other.string)
        let merge = ProfileMerge(
            store: finder.store, ledger: try await workspace.ledger, keys: finder.keys, book: book,
            agreement: try await workspace.mergeAgreement(finder.store),
            moves: try await workspace.mergedPhotos(finder.store), time: workspace.time)
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let result = try await merge.run(given, into: other, isDryRun: change.dryRun) {
            progress.count($0, of: $1, "photo")
        }
        if !change.dryRun { await finder.updateCatalog() }
        return Answer(
            ProfileMergeReport(
                dryRun: change.dryRun, from: .init(given, book), into: .init(other, book), events: result.events,
                photos: .init(moved: result.moved, left: result.left), isMerged: wanted.isMerged))
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

    /// What it comes to.
    private struct Removal: Hashable, Sendable {
        let id: ByteString
        let ids: [ByteString]
        let phones: [String]
        let name: ByteString?
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        try await change.run(workspace) { place, finder in
            try await find(place, finder)
        } question: { removal in
            .init(
                text: "Forget \((removal.name ?? removal.id).string.escapingControls) and its telephone number?",
                verb: "remove", no: "nothing was removed")
        } carryOut: { removal, place, finder in
            try await carryOut(removal, place, finder)
        }
    }

    private func find(_ workspace: Workspace, _ finder: ProfileFinder) async throws -> Removal {
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
        return Removal(
            id: id.inBytes, ids: ids.map(\.inBytes),
            phones: book.profiles.filter { group.contains($0.uuid.inBytes) }.map(\.phone.e164),
            name: book.names[id.inBytes]?.inBytes)
    }

    private func carryOut(_ removal: Removal, _ workspace: Workspace, _ finder: ProfileFinder) async throws -> Answer {
        let report = ProfileRemovalReport(
            dryRun: change.dryRun, id: removal.id.string, phones: removal.phones, name: removal.name?.string)
        if change.dryRun { return Answer(report) }
        let ids = removal.ids.map(\.string)
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

    struct Asked {
        let text: String
        let verb: String
        /// What came of it where the answer is no.
        let no: String
    }

    /// Finds out what is to be done, asks, and does it while no cleanup, and no other change of this kind, is at work. None
    /// of them waits for a person: what is to be done is found out again after the answer.
    /// - Parameter find: all that the question tells, and that is done.
    func run<Change: Hashable & Sendable>(
        _ workspace: Workspace, find: (Workspace, ProfileFinder) async throws -> Change,
        question: (Change) -> Asked, carryOut: (Change, Workspace, ProfileFinder) async throws -> Answer
    ) async throws -> Answer {
        let asks = !dryRun && !consent.yes
        var lock: AgentLock?
        defer { withExtendedLifetime(lock) {} }
        if !dryRun, !asks { lock = try await workspace.takeCleanupLock() }
        let place = try await workspace.changing(unless: dryRun)
        var finder = try await ProfileFinder(place, dryRun ? .reads : .writes)
        let change = try await find(place, finder)
        if asks {
            let asked = question(change)
            lock = try await workspace.takeCleanupLock {
                try Question.confirmLoss(asked.text, on: workspace.console.people, to: asked.verb, no: asked.no)
            }
            finder = try await finder.anew()
            guard try await find(place, finder) == change else {
                throw CommandFailure.failed("the profiles were changed meanwhile: \(asked.no); give the command again")
            }
        }
        return try await carryOut(change, place, finder)
    }
}
