import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhone
import SyncPhotos
import SyncSystem
import SyncWatch

struct ProfilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "Map telephone numbers to profiles.",
        discussion: """
            Gallery events may name their profile by a telephone number. Keys in the store hold no numbers: the number \
            needs a profile, under whose UUID its photos are archived. Events wait until it has one.

            EXAMPLES
              sync-agent profiles add "+1 778 814 3739" --name Grandma
              sync-agent profiles list
              sync-agent profiles merge grandma "+1 778 814 3739"
              sync-agent profiles migrate --dry-run
            """,
        subcommands: [
            ProfilesListCommand.self, ProfilesAddCommand.self, ProfilesRenameCommand.self, ProfilesMergeCommand.self,
            ProfilesRemoveCommand.self, ProfilesMigrateCommand.self,
        ]
    )
}

struct ProfilesListCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List profiles, the oldest first.",
        discussion: """
            EXAMPLES
              sync-agent profiles list
              sync-agent profiles list --json | jq -r '.profiles[].id'
            """
    )

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let settings = workspace.settings.share
        return Answer(
            try await workspace.ledger {
                ProfileListReport(
                    try $0.profileBook(settings), uses: try $0.profileUses(),
                    withoutNumber: try $0.profilesWithoutNumber())
            })
    }
}

extension Ledger {
    func profileBook(_ settings: ShareSettings) throws -> ProfileBook {
        ProfileBook(
            try profiles(), notes: try profileNotes(), phones: LibPhoneNumbers(), region: settings.phoneRegion,
            pseudonyms: try Pseudonyms(self))
    }
}

struct ProfilesAddCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a profile for a telephone number.",
        usage: "sync-agent profiles add <phone> [<options>]",
        discussion: """
            The number may be written in any common way; without a country code it is taken for one of share.phone_region, \
            or of --region. The profile's UUID is made, unless another machine or an app has one for it already.

            EXAMPLES
              sync-agent profiles add "+1 778 814 3739" --name Grandma
              sync-agent profiles add "(778) 814-3739" --region CA
              sync-agent profiles add 0151-12345678 --region DE --name Ana
            """
    )

    @Argument(help: "The telephone number.")
    var phone: String

    @Option(help: ArgumentHelp("The profile's UUID, if it has one elsewhere.", valueName: "uuid"))
    var id: String?

    @Option(help: "Display name of the profile.")
    var name: String?

    @Option(help: ArgumentHelp("Country of numbers without a country code, such as US.", valueName: "region"))
    var region: String?

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if let id, UUID(uuidString: id) == nil {
            throw ValidationError("--id takes a UUID, such as 0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d")
        }
        if let name, !Self.isName(name) { throw ValidationError("--name takes a name of one line") }
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text == text.escapingControls && text.utf8.count <= 200
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let number = try LibPhoneNumbers().typed(phone, region: region ?? workspace.settings.share.phoneRegion)
        let (uuid, name, now) = ((id ?? UUID().uuidString).lowercased(), name, workspace.time.now())
        let profile = try await workspace.ledger { try Self.add(number, uuid, name, to: $0, at: now) }
        return Answer(ProfileListReport.Profile(profile, events: 0)) { _ in ["\(profile.uuid)  \(profile.phone)"] }
    }

    /// - Throws: ``CommandFailure`` that names the profile which has the number, or the id, already.
    private static func add(
        _ number: PhoneNumber, _ uuid: String, _ name: String?, to ledger: Ledger, at time: Date
    ) throws -> ProfileRecord {
        func hasProfile(_ known: ProfileRecord) -> CommandFailure {
            CommandFailure.failed("\(number) has a profile already: \(known.uuid)")
        }
        if let known = try ledger.profile(number) { throw hasProfile(known) }
        if let other = try ledger.profiles().first(where: { $0.uuid == uuid }) {
            throw CommandFailure.failed("\(uuid) is the profile of \(other.phone); leave out --id, or name another")
        }
        let profile = try ledger.addProfile(uuid: uuid, phone: number, name: name, at: time)
        guard profile.uuid == uuid else { throw hasProfile(profile) }
        return profile
    }
}

struct ProfilesMigrateCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Map events that name a telephone number to the profile that has it.",
        usage: "sync-agent profiles migrate [<options>]",
        discussion: """
            Counts the events that are mapped, and lists the numbers that no profile has. Photos that an earlier \
            version archived under a number get a key with the profile's UUID, and those under another id, of a \
            profile or an event, that may hold a number, get one with its pseudonym: each new object is verified \
            before the old one is removed. What is in an archive class has to be restored first; it is named and left.

            With --delete-orphans, the events of numbers without a profile are deleted from this machine, text and all, \
            unless their photo is not stored yet, or the store no longer has it whole: each is read back. It asks \
            first. Photos in the store stay.

            EXAMPLES
              sync-agent profiles migrate --dry-run
              sync-agent profiles migrate
              sync-agent profiles migrate --delete-orphans
            """
    )

    @Flag(help: "Dry run: show what would be done.")
    var dryRun = false

    @Flag(help: "Delete the events of numbers that no profile has.")
    var deleteOrphans = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        // As merges of profiles do: photos get other keys, which a move to another store would leave behind.
        var lock = try await dryRun ? nil : workspace.takeCleanupLock()
        defer { withExtendedLifetime(lock) {} }
        let place = try await workspace.changing(unless: dryRun)
        let store = try await place.store(dryRun ? .reads : .writes)
        var report = ProfileMigrationReport(try await migrate(place, store), dryRun: dryRun)
        let orphans = report.orphans.filter { $0.events > 0 }
        if deleteOrphans, !dryRun, !orphans.isEmpty {
            if !consent.yes {
                // No cleanup waits for a person.
                lock = nil
                lock = try await workspace.takeCleanupLock { try ask(report, workspace.console.people) }
                try await requireOrphans(orphans.map(\.profile), workspace)
            }
            report.note(try await delete(orphans.map(\.profile), workspace, store))
        }
        return Answer(report)
    }

    private func migrate(_ workspace: Workspace, _ store: any ObjectStore) async throws -> ProfileMigration.Summary {
        let (ledger, settings) = (try await workspace.ledger, workspace.settings.share)
        let migration = ProfileMigration(
            store: store, ledger: ledger, keys: try workspace.keys,
            book: try await ledger { try $0.profileBook(settings) }, time: workspace.time)
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        return try await migration.run(isDryRun: dryRun) { progress.count($0, of: $1, "photo") }
    }

    /// - Throws: ``CommandFailure`` when somebody has one of these numbers by now.
    private func requireOrphans(_ numbers: [String], _ workspace: Workspace) async throws {
        let settings = workspace.settings.share
        let book = try await workspace.ledger { try $0.profileBook(settings) }
        for number in numbers {
            if case .orphan = book.owner(of: number) { continue }
            throw CommandFailure.failed(
                "\(number.escapingControls) has got a profile meanwhile: nothing was deleted; give the command again")
        }
    }

    private func delete(
        _ orphans: [String], _ workspace: Workspace, _ store: any ObjectStore
    ) async throws -> OrphanRemover.Summary {
        let (ledger, settings) = (try await workspace.ledger, workspace.settings.share)
        return try await OrphanRemover(
            ledger: ledger, store: store, scanner: FileTreeScanner(), reducer: workspace.reducer,
            settle: workspace.settings.upload.settle, pool: workspace.threads.disk, time: workspace.time
        ) { profile in
            let owner = try await ledger { try $0.profileBook(settings) }.owner(of: profile)
            return if case .orphan = owner { true } else { false }
        }.run(orphans)
    }

    private func ask(_ report: ProfileMigrationReport, _ terminal: Terminal) throws {
        report.lines(on: terminal).forEach(terminal.writeLine)
        let count = Quantities.counted(report.orphans.reduce(0) { $0 + $1.events }, "event")
        // Text that is deleted is gone for good.
        try Question.confirmLoss(
            "Delete \(count) of numbers without a profile, text and all?", on: terminal, to: "delete",
            no: "nothing was deleted")
    }
}
