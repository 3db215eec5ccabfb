import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncS3
import SyncSystem
import SystemPackage

/// Puts the overview together: ledger, lock file, and one look at the store.
struct StatusReader {
    /// How many failed photos the overview names.
    private static let failedShown = 10
    /// `status` answers even when the store does not.
    static let patience = Duration.seconds(3)

    let workspace: Workspace

    private var installation: Installation { workspace.installation }

    /// For a command: what time does to restores is noted first.
    func readNow(for terminal: Terminal) async throws -> StatusView {
        let now = installation.time.now()
        try await workspace.ledger { _ = try $0.expireRestores(at: now) }
        return try await read(for: terminal)
    }

    /// As it is noted; nothing is changed.
    func read(for terminal: Terminal) async throws -> StatusView {
        let store = await checkStore()
        // A store that does not answer is told, and its disk may not answer either.
        let disks = store.error == nil ? await readDisks() : []
        let shared = try await sharedVacations()
        return try await workspace.ledger { [self] in try read($0, store, disks, shared, terminal) }
    }

    private func read(
        _ ledger: Ledger, _ store: StoreAnswer, _ disks: [StatusReport.Disk],
        _ shared: [FilePath: StatusReport.SharedVacation], _ terminal: Terminal
    ) throws -> StatusView {
        let overview = try ledger.overview()
        let delayed = try ledger.delayedPhotos(limit: Self.failedShown)
        var report = StatusReport(
            overview, leftOut: try ledger.leftOut(naming: StatusReport.notesNamed),
            backlog: try backlog(ledger),
            vacations: try ledger.vacations(), sharedVacations: shared,
            delayed: delayed,
            verification: try ledger.verificationStatus(at: installation.time.now()),
            catalog: StatusReport.Catalog(
                try ledger.catalogStatus(), isKept: installation.settings.catalog == .on,
                name: installation.machineName),
            elsewhere: try ledger.otherDamage(limit: SilentObjects.mostDamage),
            watched: installation.settings.watch,
            holder: try AgentLock.currentHolder(at: installation.lockFile), store: store.identity,
            storeError: store.error, storeNote: store.note)
        report.disks = disks
        for (index, photo) in delayed.enumerated() {
            report.delayed[index].triedSince = try ledger.triedSince(photo)
        }
        report.store.comparedAt = try ledger.classesRefreshedAt()
        report.store.unclearObjects = try ledger.unclearObjects()
        try addNotes(to: &report, ledger)
        report.originals = try originals(ledger)
        let troubles = try ledger.shareTroubles(at: installation.time.now())
        report.guests = StatusReport.Guests(
            waiting: try ledger.waitingGuestPhotos().count, problem: troubles.first { $0.kind == .guests }?.problem)
        report.shares = StatusReport.Shares(troubles)
        report.retention = StatusReport.Retention(
            try installation.retentionOutlook.status(ledger, at: installation.time.now()))
        return StatusView(
            report: report, failed: try ledger.failedPhotos(limit: Self.failedShown),
            lost: try ledger.lostPhotos(limit: Self.failedShown),
            lostObjects: try ledger.lostBesidePhotos(limit: Self.failedShown), brokenOfLost: overview.brokenOfLost,
            copiesToMakeAnew: overview.copiesToMakeAnew, terminal: terminal, now: installation.time.now(),
            home: installation.location.home?.string, waitingSince: overview.oldestWaiting)
    }

    /// As their folders were seen last: an overview waits for no disk.
    private func sharedVacations() async throws -> [FilePath: StatusReport.SharedVacation] {
        let ledger = try await workspace.ledger
        let live = try await ledger { try $0.unendedShares().filter { $0.state == .live } }
        if live.isEmpty { return [:] }
        let differences = try await ShareReview(ledger: ledger, place: .ledger).liveShares()
        return live.reduce(into: [:]) { vacations, share in
            let others = vacations[share.folder]?.changedBy
            vacations[share.folder] = StatusReport.SharedVacation(
                changedBy: [others, differences[share.id]?.total].compactMap(\.self).max())
        }
    }

    /// What of galleries and projects is left aside, and why.
    private func addNotes(to report: inout StatusReport, _ ledger: Ledger) throws {
        let hasTexts = try (ledger.eventCounts().retention[.kept] ?? 0) > 0
        let doubt = hasTexts ? try ClockCheck(ledger).doubt(at: installation.time.now()) : nil
        for (index, folder) in installation.settings.watch.enumerated() {
            switch folder.kind {
            case .gallery:
                if let doubt { report.folders[index].add(note: "texts of old events stay: \(doubt)") }
            case .projects:
                let isSeen = report.folders[index].problem == nil
                let halfDeleted = HalfDeletedProjects(
                    try ledger.projectsBeingDeleted(in: folder.path), isFolderSeen: isSeen)
                if let problem = halfDeleted.problem { report.folders[index].add(problem: problem) }
                let count = try ledger.unrecordedProjects(in: folder.path).count
                guard count > 0 else { continue }
                let projects = Quantities.counted(count, "stored project")
                report.folders[index].add(
                    note: "\(projects) without a record in projects.json; see sync-agent projects list")
            case .vacations: continue
            }
        }
    }

    private func originals(_ ledger: Ledger) throws -> StatusReport.Originals {
        let policy = installation.settings.photos.originals
        let keys = try installation.keys
        let status = try ledger.originalsStatus(below: keys.originals, countingWaiting: policy != .off)
        return StatusReport.Originals(
            keep: policy.rawValue, kept: status.kept, bytes: status.bytes, waiting: status.waiting,
            waitingBytes: status.waitingBytes, begun: status.begun)
    }

    private func backlog(_ ledger: Ledger) throws -> [StorageClass: ArchiveBacklog] {
        let policy = try installation.tierPolicy()
        let rules = policy.archiveRules.compactMap(\.own)
        guard !rules.isEmpty, let smallest = policy.floor.bytes else { return [:] }
        var backlog: [StorageClass: ArchiveBacklog] = [:]
        for rule in rules {
            guard let transition = rule.transition else { continue }
            for storageClass in policy.movedClasses {
                let part = try ledger.archiveBacklog(
                    in: storageClass, below: [rule.prefix], minimumBytes: smallest, afterDays: transition.afterDays,
                    at: installation.time.now())
                backlog[storageClass, default: ArchiveBacklog()].due += part.due
                backlog[storageClass, default: ArchiveBacklog()].tooSmall += part.tooSmall
            }
        }
        return backlog
    }

    private struct StoreAnswer {
        let identity: StoreIdentity
        let error: String?
        /// What it does otherwise than the configuration says.
        var note: String?
    }

    private func checkStore() async -> StoreAnswer {
        let store: any ObjectStore
        do {
            store = try await workspace.ledger { [installation] in try installation.makeStore($0, access: .reads) }
        } catch {
            return StoreAnswer(identity: installation.configuredIdentity, error: "\(error)")
        }
        let overdue = CommandFailure(.storeUnreachable, "no answer within \(Quantities.span(Self.patience))")
        let failure: String?
        do {
            failure = try await installation.time.within(Self.patience, else: overdue) {
                try await store.check()
                return try await workspace.strangeness(of: store)?.description
            }
        } catch {
            failure = "\(error)"
        }
        await store.close()
        return StoreAnswer(identity: store.identity, error: failure, note: ignoredClass(of: store))
    }

    /// How much room there is; nothing where a disk hangs, whose thread is given up.
    private func readDisks() async -> [StatusReport.Disk] {
        let installation = installation
        let disks = try? await workspace.threads.disk.run(givingUpAfter: Self.patience, onSilence: {}) {
            installation.disks.compactMap { disk in
                disk.freeBytes().map { StatusReport.Disk(place: disk.place, freeBytes: $0) }
            }
        }
        return disks ?? []
    }

    private func ignoredClass(of store: any ObjectStore) -> String? {
        guard case .s3 = installation.settings.store else { return nil }
        return (store as? S3Store)?.ignoredClass.map {
            "It stores new photos in \($0.seen), and takes no notice of store.storage_class: \($0.wanted)."
        }
    }
}

extension Overview {
    /// What the store had against the photos that wait, when it was tried last: it may answer, and take none. One that
    /// was away, and has come back since, has not been tried again yet.
    var refusal: String? { totals.waiting > 0 ? store?.error : nil }
}

/// `status --check`: one line and an exit code for monitoring (Monitoring Plugins Development Guidelines).
struct StatusCheck {
    enum Level: Int32, Comparable {
        case ok = 0
        case warning = 1
        case critical = 2
        case unknown = 3

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

        fileprivate var word: String { "\(self)".uppercased() }
    }

    /// Seconds after which what waits, or a pass that does not come, is worth a look, and an alarm.
    static let patience: (warning: TimeInterval, critical: TimeInterval) = (86_400, 3 * 86_400)
    /// Seconds after which a photo that is tried in vain is worth a look: by then its pauses are an hour long.
    static let patienceOfTried: TimeInterval = 3_600

    let report: StatusReport
    /// Since when the photo is there that waits longest; one that cannot be stored does not wait.
    let waitingSince: Date?
    let now: Date

    struct Outcome {
        let level: Level
        let line: String

        var answer: Answer { Answer(line: line, code: ExitCode(level.rawValue)) }
    }

    /// Why the state could not be told.
    static func unknown(_ error: any Error) -> Outcome {
        Outcome(level: .unknown, line: line(.unknown, "\(error)"))
    }

    var result: Outcome {
        let findings = findings
        let level = findings.map(\.level).max() ?? .ok
        let totals = report.totals
        let calm = "\(totals.uploaded.counted("photo")) stored, \(totals.pending) waiting"
        // The gravest first.
        let words = [Level.critical, .warning].flatMap { level in findings.filter { $0.level == level }.map(\.words) }
        return Outcome(
            level: level,
            line: Self.line(level, words.isEmpty ? calm : words.joined(separator: "; ")) + " | " + performance)
    }

    private static func line(_ level: Level, _ words: String) -> String {
        // A bar begins the numbers, and a line is all that is read.
        "SYNC-AGENT \(level.word) - " + words.escapingControls.replacing("|", with: "/")
    }

    private var findings: [(level: Level, words: String)] {
        var findings: [(level: Level, words: String)] = []
        func add(_ level: Level?, _ words: @autoclosure () -> String) {
            if let level { findings.append((level, words())) }
        }
        let totals = report.totals
        add(totals.lost > 0 ? .critical : nil, "\(totals.lost) lost")
        add(report.broken > 0 ? .critical : nil, "\(report.broken.counted("stored object")) damaged or gone")
        add(totals.failed > 0 ? .warning : nil, "\(totals.failed) cannot be stored")
        if let waitingSince { add(level(since: waitingSince), "a photo waits \(wait(since: waitingSince))") }
        if let tried {
            add(
                .warning,
                "a photo is tried in vain \(wait(since: tried.since)) (\(tried.photo.path): \(tried.photo.why))")
        }
        for disk in report.disks { if let words = disk.words { add(.warning, words) } }
        let grade = report.store.since.flatMap(level(since:)) ?? .warning
        if !report.store.reachable { add(grade, "the store is not reachable (\(report.store.error ?? ""))") }
        if let refusal = report.store.refusal {
            add(grade, "the store took no photos when it was tried last (\(refusal))")
        }
        let unclear = report.store.unclearObjects
        add(unclear > 0 ? .warning : nil, "\(unclear.counted("object")) could not be looked at in the store")
        if !report.agent.running {
            if let ahead = report.passAhead(of: now) {
                add(.warning, "no agent runs, and the last pass was at \(Quantities.ahead(ahead))")
            } else if let last = report.lastSyncAt {
                add(level(since: last), "no agent runs, and the last whole pass was \(span(since: last)) ago")
            } else {
                add(.warning, "no agent runs, and there was no whole pass yet")
            }
        }
        // While something is at work, one that was begun is under way.
        let originals = report.originals
        let couldNotKeep = originals.begun > 0 && !report.agent.running
        add(couldNotKeep ? .warning : nil, "\(originals.waiting.counted("original")) not kept")
        let overdue = report.retention.overdue
        add(overdue > 0 ? .warning : nil, "\(overdue.counted("gallery event")) overdue")
        for folder in report.folders {
            guard let problem = folder.problem else { continue }
            // Most of them begin with the path.
            add(.warning, problem.hasPrefix(folder.path) ? problem : "\(folder.path): \(problem)")
        }
        if let problem = report.guests.problem { add(.warning, "photos of guests cannot be taken in (\(problem))") }
        if let words = report.shares.words { add(.warning, words) }
        add(
            report.catalog.problem == nil ? nil : .warning,
            "the catalogue is not up to date (\(report.catalog.problem ?? ""))")
        return findings
    }

    /// The photo that waits longest of those that are tried in vain for long, where nothing else says why: the store
    /// itself, or that it waits for days. How long it has waited for its turn before is nothing to look at.
    private var tried: (photo: StatusReport.Delayed, since: Date)? {
        guard report.store.reachable, report.store.refusal == nil, waitingSince.flatMap(level(since:)) == nil else {
            return nil
        }
        for photo in report.delayed {
            guard let since = photo.triedSince else { continue }
            if now.timeIntervalSince(since) > Self.patienceOfTried || since.isAhead(of: now) { return (photo, since) }
        }
        return nil
    }

    /// Of what has no known age, one of more than a day cannot be ruled out.
    private func level(since moment: Date) -> Level? {
        if moment.isAhead(of: now) { return .warning }
        return switch now.timeIntervalSince(moment) {
        case ...Self.patience.warning: nil
        case ...Self.patience.critical: .warning
        default: .critical
        }
    }

    private func span(since moment: Date) -> String { Quantities.span(.seconds(now.timeIntervalSince(moment))) }

    private func wait(since moment: Date) -> String { Quantities.lasting(since: moment, now: now) }

    /// `label=value[unit];warning;critical;least;most`
    private var performance: String {
        let waits = waitingSince.map { max(Int(now.timeIntervalSince($0)), 0) } ?? 0
        return [
            "stored=\(report.totals.uploaded);;;0", "waiting=\(report.totals.pending);;;0",
            "failed=\(report.totals.failed);0;;0", "lost=\(report.totals.lost);;0;0", "damaged=\(report.broken);;0;0",
            "oldest=\(waits)s;\(Int(Self.patience.warning));\(Int(Self.patience.critical));0",
            "overdue=\(report.retention.overdue);0;;0", "bytes=\(report.totals.bytesStored)B;;;0",
        ].joined(separator: " ")
    }
}
