import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

struct MoveStoreCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "move-store",
        abstract: "Move everything to another store, or continue with a store that has a new address.",
        usage: """
            sync-agent move-store <new> [<options>]
            sync-agent move-store --adopt [<options>]
            """,
        discussion: """
            Copies everything that is stored for this user, verifies each copy, and then puts the new store into the \
            configuration. Storage classes are kept where the new store has them, and encryption is as the \
            configuration says. It can be stopped and run again: what is there is not sent again. The old store keeps \
            what it has, except shares: those get new links in the new one.

            What is in the archive of the old store has to be restored first (sync-agent restore --all); until then the \
            configuration stays as it is. Versions that a bucket keeps are not copied.

            NEW is a folder, s3://BUCKET or s3://BUCKET/PREFIX, or a configuration file that describes the store (for \
            further settings: encryption, addressing, checksums).

            --adopt continues with the store that the configuration names, if it is the one that this machine knows, \
            under another path or address, or a copy that another machine has made with this command.

            EXAMPLES
              sync-agent move-store --dry-run s3://my-photos
              sync-agent move-store /mnt/nas/photos
              sync-agent move-store s3://photos/family --endpoint https://nas.local:9000
              sync-agent move-store --adopt
            """
    )

    @Argument(help: "The new store.", completion: .file())
    var new: OutputArgument?

    @Flag(help: "Continue with the store that the configuration names now.")
    var adopt = false

    @Option(help: ArgumentHelp("Address of an S3 store that is not Amazon's.", valueName: "url"))
    var endpoint: String?

    @Option(help: "Region of an S3 store (default: that of the AWS configuration).")
    var region: String?

    @Option(help: ArgumentHelp("Profile of the shared AWS files.", valueName: "name"))
    var awsProfile: String?

    @Flag(help: "Dry run: show what would be copied; nothing is changed.")
    var dryRun = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: AnswerOptions

    private var isBucket: Bool { new?.text.hasPrefix("s3://") ?? false }

    func validate() throws {
        if adopt == (new != nil) { throw ValidationError("name the new store, or use --adopt") }
        if !isBucket, endpoint != nil || region != nil || awsProfile != nil {
            throw ValidationError("--endpoint, --region and --aws-profile belong to s3://BUCKET; leave them out")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let answer = adopt ? try await goOn(workspace) : try await move(workspace)
        if !dryRun { ConfigurationFile(workspace.installation.location).discardLeftover() }
        return answer
    }

    /// Keeps away the agent, and whoever works with the store of before: a cleanup takes photos out of their files once that
    /// has them, and what is forgotten is deleted there. Nobody takes these twice, this process included.
    private func lockOut(_ workspace: Workspace) async throws -> [AgentLock] {
        try await workspace.takeLock()
        return [try await workspace.takeCleanupLock(), try workspace.installation.takeDeletionLock()]
    }

    // MARK: The same store under another name

    /// - Parameter held: the locks; `nil` where they are still to be taken.
    private func goOn(_ workspace: Workspace, holding held: [AgentLock]? = nil) async throws -> Answer {
        let installation = workspace.installation
        let store = workspace.keep(try installation.makeStore(workspace.settings.store, access: .reads))
        let ledger = try await workspace.ledger
        let (bound, known) = try await ledger { (try $0.boundStore(), try $0.storeID()) }
        let own = installation.placeName(store)
        let recognition = try await workspace.recognition(store)
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        let finding = try await recognition.compare { count in
            line.update { _ in "\(Quantities.counted(count, "object")) listed" }
        }
        line.finish()
        if bound?.inBytes == own.inBytes, finding.id == known {
            return Answer(AdoptReport(finding, store: own, adopted: false))
        }
        guard let bound, installation.isThisUsers(bound), finding.kinship != .other else {
            throw CommandFailure.configuration(
                "\(own) is another store than the one that this machine knows\(bound.map { ", \($0)" } ?? "") (it has "
                    + "\(finding.found) of the \(Quantities.counted(finding.known, "object")) that are known here). Correct store "
                    + "or user; to take what is missing there, name the old store again and run sync-agent move-store NEW"
            )
        }
        let report = AdoptReport(finding, store: own, adopted: true)
        if dryRun { return Answer(AdoptReport(finding, store: own, adopted: false)) }
        if !consent.yes {
            report.preview(from: bound).forEach(workspace.console.people.writeLine)
            try Question.confirmLoss(
                "Go on with it?", on: workspace.console.people, to: "go on", no: "nothing was changed")
        }
        let locks = if let held { held } else { try await lockOut(workspace) }
        defer { withExtendedLifetime(locks) {} }
        guard try await ledger({ try $0.boundStore() })?.inBytes == bound.inBytes else {
            throw CommandFailure.configuration(
                "what is stored was moved to another store meanwhile: nothing was changed; give the command again")
        }
        try await ledger { [now = workspace.time.now()] in
            // Whatever ends this between the two, the next run finds them again.
            try $0.forgetAgain(finding.forgotten, at: now)
            try $0.adopt(store: own, id: finding.id, isCopy: finding.kinship != .same)
        }
        try await noteLack(finding, of: store, workspace)
        if finding.kinship != .same {
            let store = try await workspace.store(.writes)
            try await OverShares(in: store, ledger: ledger, guests: workspace.guestIntake(store, ledger)).remove()
        }
        return Answer(report)
    }

    // MARK: Another store

    private func move(_ workspace: Workspace) async throws -> Answer {
        let installation = workspace.installation
        let settings = try newStore(installation)
        let edit = try StoreSwitch(to: settings, location: installation.location)
            .edit(reason: "until \(Quantities.day(workspace.time.now()))")
        if try await isSwitched(to: settings, workspace) { return try await goOn(workspace) }
        let locks: [AgentLock]
        if dryRun {
            try await workspace.takeLock()
            locks = []
        } else {
            locks = try await lockOut(workspace)
        }
        defer { withExtendedLifetime(locks) {} }
        let old = try await workspace.store(dryRun ? .reads : .writes)
        let new = workspace.keep(try installation.makeStore(settings, access: dryRun ? .reads : .founds))
        guard new.identity.location.inBytes != old.identity.location.inBytes else {
            // A run that was ended after its last step is run again by whoever does not know that it was.
            if try await workspace.recognition(old).isMoved() { return try await goOn(workspace, holding: locks) }
            throw CommandFailure.usage("\(new.identity.location) is the store that the configuration has already")
        }
        let isFounded = try await isThere(new)
        if isFounded, let id = try await workspace.recognition(new).id(),
            id == (try await workspace.recognition(old).id())
        {
            throw CommandFailure.usage(
                "\(new.identity.location) is the store that is used now, under another name: it has the same id. To use that "
                    + "name, put it into the configuration and run sync-agent move-store --adopt")
        }
        let ledger = try await workspace.ledger
        let keys = try workspace.keys
        if isFounded, !dryRun {
            // A machine that was faster has taken some of them back there.
            try await ShareNotes(
                store: new, ledger: ledger, keys: keys, name: installation.machineName, time: workspace.time
            ).followAll()
        }
        let shares = try await ledger { try $0.unendedShares() }
        let copy = StoreCopy(
            from: old, to: new, prefixes: keys.ownPrefixes + shares.filter(\.state.isOpen).map(\.keys.folder),
            leaving: [try keys.storeOrigin()], folder: installation.location.stateFolder,
            isDamaged: isDamaged(workspace.settings.store, ledger), pool: workspace.threads.disk, time: workspace.time)
        var report = MoveReport(from: old.identity.location, to: new.identity.location, dryRun: dryRun)
        report.note(try await copy.survey(isFounded: isFounded))
        if dryRun { return Answer(report) }
        if !consent.yes {
            report.preview.forEach(workspace.console.people.writeLine)
            try Question.confirmLoss(
                "Copy, and use the new store from then on?", on: workspace.console.people, to: "copy",
                no: "nothing was copied")
        }
        if edit.text != nil { try ConfigurationFile(installation.location).requireWritable() }
        try await OverShares(in: new, ledger: ledger, guests: workspace.guestIntake(new, ledger)).remove()
        try await run(copy, &report, workspace)
        guard report.isWhole else { return Answer(report) }
        try await finish(from: old, to: new, copy, edit, &report, shares.map(\.id), workspace)
        return Answer(report)
    }

    /// Whether it is the store that has other bytes than were stored: on a disk of this machine nothing else can have them
    /// altered; on the way from a server something may.
    private func isDamaged(
        _ store: StoreSettings, _ ledger: LedgerQueue
    ) -> @Sendable (ObjectKey) async throws -> Bool {
        if case .directory = store { return { _ in true } }
        return { key in try await ledger { try $0.object(key)?.problem?.isDamage == true } }
    }

    /// Whether a run before this one has come as far as the configuration, and no further.
    private func isSwitched(to settings: StoreSettings, _ workspace: Workspace) async throws -> Bool {
        let installation = workspace.installation
        let configured = workspace.keep(try installation.makeStore(workspace.settings.store, access: .reads))
        let new = workspace.keep(try installation.makeStore(settings, access: .reads))
        guard configured.identity.location.inBytes == new.identity.location.inBytes,
            let bound = try await workspace.ledger.callAsFunction({ try $0.boundStore() }),
            bound.inBytes != installation.placeName(new).inBytes
        else { return false }
        return try await workspace.recognition(new).kinship().kinship == .copy
    }

    private func isThere(_ new: any ObjectStore) async throws -> Bool {
        do {
            try await new.check()
            return true
        } catch let error as StoreError where error.code == .storeMissing && dryRun {
            return false
        }
    }

    private func run(_ copy: StoreCopy, _ report: inout MoveReport, _ workspace: Workspace) async throws {
        let total = report.objects
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { line.finish() }
        // Everything is there when a round has nothing to copy: what a share of another process has changed meanwhile, and what
        // the store has lost again, is copied in a second one.
        for _ in 0..<4 {
            let done = Lock(0)
            let summary = try await copy.run { _ in
                let count = done.withLock { done in
                    done += 1
                    return done
                }
                line.count(min(count, total), of: total, "object")
            }
            report.note(summary)
            report.missing = summary.copied.objects
            if summary.copied.objects == 0 { return }
        }
    }

    /// The new store first says what it is a copy of, so that whatever ends this process, `--adopt` can go on.
    private func finish(
        from old: any ObjectStore, to new: any ObjectStore, _ copy: StoreCopy, _ edit: StoreSwitch.Edit,
        _ report: inout MoveReport, _ shares: [ShareID], _ workspace: Workspace
    ) async throws {
        let ledger = try await workspace.ledger
        let left = try await workspace.recognition(old)
        try await left.makeKnown()
        let recognition = try await workspace.recognition(new)
        if let id = try await ledger({ try $0.storeID() }) { try await recognition.noteOrigin(id, left) }
        let id = try await recognition.found()
        guard let text = edit.text else {
            report.section = edit.section
            return
        }
        // While the configuration names the old store, and whoever goes on from here finds them unpublished: nobody would see to
        // their ends there any more.
        try await ledger { ledger in for id in shares { try ledger.noteShareOverwritten(id) } }
        let removal = try await copy.removeOld(shares, workspace.guestIntake(old, ledger))
        try requireEnd(removal, workspace)
        report.note(left: removal.left)
        let finding = try await recognition.compare()
        try ConfigurationFile(workspace.installation.location).write(text, mode: edit.mode)
        let place = workspace.installation.placeName(new)
        do {
            try await ledger { [now = workspace.time.now()] in
                try $0.forgetAgain(finding.forgotten, at: now)
                try $0.adopt(store: place, id: id, isCopy: true)
            }
        } catch let error as LedgerError {
            throw CommandFailure(
                ExitStatus(error),
                "\(error). The configuration names the new store already; the same command again goes on")
        }
        // Another process, as a gallery, may have published them in the old store once more before it could know. An
        // embedded one takes nothing more from whoever goes by this ledger.
        if case .s3 = workspace.settings.store,
            let again = try? await copy.removeOld(shares, workspace.guestIntake(old, ledger))
        {
            report.note(lastCheck: again)
        }
        report.switched = true
        report.lost = finding.known - finding.found
        report.forgotten = finding.forgotten.count
        report.shares = shares.count
        try await noteLack(finding, of: new, workspace)
    }

    /// What guests have sent to a share is only in the old store until it is kept here: the move waits for it.
    /// - Throws: ``CommandFailure``, when all is told that is left.
    private func requireEnd(_ removal: StoreCopy.Removal, _ workspace: Workspace) throws {
        guard let obstacle = removal.obstacle else { return }
        for line in obstacle.lines { workspace.console.errors.writeLine(line) }
        throw obstacle.failure
    }

    /// What the store was found to lack is not called safe from now on: the ledger is held against it as `sync` does.
    private func noteLack(
        _ finding: StoreRecognition.Finding, of store: any ObjectStore, _ workspace: Workspace
    ) async throws {
        guard finding.found < finding.known else { return }
        let refresh = ClassRefresh(
            store: store, ledger: try await workspace.ledger, keys: try workspace.keys,
            moves: try await workspace.mergedPhotos(store), holdCatalog: workspace.catalogHold, time: workspace.time)
        do {
            _ = try await refresh.run()
        } catch is StoreError {
            // The next sync looks again.
        }
    }

    // MARK: The configuration

    private func newStore(_ installation: Installation) throws -> StoreSettings {
        guard let new else { preconditionFailure("validated: it is there without --adopt") }
        let text = new.text
        if isBucket {
            let names = text.dropFirst("s3://".count).split(separator: "/").map { String($0) }
            guard let bucket = names.first else { throw CommandFailure.usage("\(text): write it as s3://BUCKET") }
            return .s3(
                try Self.carried(
                    S3StoreSettings(
                        bucket: bucket, region: region, endpoint: try endpoint.map(InitCommand.url),
                        prefix: names.dropFirst().joined(separator: "/"), profile: awsProfile),
                    from: installation.settings.store))
        }
        if text.contains("://") {
            throw CommandFailure.usage(
                "\(text.escapingControls): write it as a folder, or as s3://BUCKET with --endpoint URL")
        }
        let path = try new.pathOfStore(installation)
        guard path.isText else {
            throw CommandFailure.usage(
                "\(path.text.escapingControls): the configuration is text in UTF-8 and cannot name this folder")
        }
        let status = try? FileStatus(at: path, followsLinks: true)
        let isMissing = try? FileStatus.find(path, followsLinks: true) == nil
        if isMissing == true, (try? FileStatus(at: path, followsLinks: false)) != nil {
            throw CommandFailure.usage(
                "\(path.text.escapingControls) is a link to what is not there; see that the disk is there, or name the folder itself"
            )
        }
        guard let status, status.kind == .file else {
            var directory = DirectoryStoreSettings(path: path)
            if case .directory(let old) = installation.settings.store {
                directory.restoreDuration = old.restoreDuration
            }
            return .directory(directory)
        }
        let old = installation.location
        let store = try ConfigFile.load(ConfigLocation(file: path, stateFolder: old.stateFolder, home: old.home))
            .settings.store
        if case .directory(let directory) = store { try OutputPlace.check(newStore: directory.path, installation) }
        return store
    }

    /// What was asked for of a bucket goes along to the next one: all of it on the same server; encryption, the size of parts and
    /// attempts to any.
    static func carried(_ new: S3StoreSettings, from old: StoreSettings) throws -> S3StoreSettings {
        guard case .s3(let old) = old else { return new }
        let isSameServer = new.endpoint == old.endpoint
        var settings = isSameServer ? old : new
        (settings.bucket, settings.prefix) = (new.bucket, new.prefix)
        settings.region = new.region ?? settings.region
        settings.profile = new.profile ?? settings.profile
        (settings.encryption, settings.encryptionKey) = (old.encryption, nil)
        (settings.partSize, settings.attempts) = (old.partSize, old.attempts)
        if old.encryption == .keyService {
            guard isSameServer, settings.region == old.region else {
                throw CommandFailure.usage(
                    "the store that is used now encrypts with a key of its region's key service (store.kms_key): write a "
                        + "configuration file for the new one, with a key that it has, and name that file in place of the bucket"
                )
            }
            settings.encryptionKey = old.encryptionKey
        }
        return settings
    }
}
