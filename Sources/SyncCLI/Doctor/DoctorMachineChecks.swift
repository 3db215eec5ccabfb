import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncWatch
import SystemPackage

/// What `doctor` looks at on this machine. Nothing is made or changed.
struct DoctorMachineChecks: Sendable {
    /// Bytes, and a part of the whole, below which a file system is nearly full.
    private static let littleSpace: Int64 = 1 << 30
    private static let littlePart: Int64 = 100
    /// Bytes below which SQLite and a photo have no room.
    private static let noSpace: Int64 = 32 << 20

    let location: ConfigLocation
    let checks: Checks
    /// For what waits for a disk.
    let pool: BlockingPool

    private var ledgerFile: FilePath { location.stateFolder.appending(Installation.ledgerName) }

    // MARK: State

    func stateFolder() -> Finding {
        let name = "state-folder"
        let folder = location.stateFolder
        let status: FileStatus
        do {
            guard let found = try FileStatus.find(folder, followsLinks: true) else {
                return .ok(name, "\(folder): not there yet, the first sync makes it")
            }
            status = found
        } catch {
            return .wrong(
                name, "\(folder): \(error.description.lowercased())", remedy: "check the owner and mode of its path",
                cause: CommandFailure.refused(name))
        }
        guard status.kind == .folder else {
            return .wrong(
                name, "\(folder) is no folder", remedy: "move it away, or set XDG_STATE_HOME to another place")
        }
        guard folder.allows([.read, .write, .execute]) else {
            return .wrong(
                name, "\(folder) cannot be written", remedy: "make it this user's: chown, then chmod 700 '\(folder)'",
                cause: CommandFailure.refused(name))
        }
        let othersMay = status.permissions.rawValue & 0o077
        return othersMay == 0
            ? .ok(name, "\(folder), this user's alone")
            : .limited(name, "\(folder): other users may look into it", instead: "run: chmod 700 '\(folder)'")
    }

    /// - Returns: the ledger, when there is one that can be opened.
    func openLedger() -> Ledger? {
        let name = "ledger"
        // What cannot be looked at may be there, and a link that leads nowhere is a ledger that is away: opening it tells.
        let found = Result { () throws(Errno) in try FileStatus.find(ledgerFile) }
        if case .success(.none) = found {
            checks.add(.ok(name, "there is none yet, the first sync makes it"))
            return nil
        }
        do {
            let ledger = try Ledger(at: ledgerFile)
            let problems = try ledger.check()
            let overview = try ledger.overview()
            let objects = overview.tiers.reduce(0) { $0 + $1.objects }
            checks.add(
                problems.isEmpty
                    ? .ok(
                        name,
                        "\(Quantities.counted(overview.totals.onDisk.files, "file")) and "
                            + "\(Quantities.counted(objects, "object")) known, no contradiction")
                    : .wrong(
                        name, problems.prefix(5).joined(separator: "\n"),
                        remedy: "stop the agent and move \(ledgerFile) away; the next pass finds again what is stored"))
            return ledger
        } catch {
            checks.add(
                .wrong(name, message: error.description, otherwise: "free the way to \(ledgerFile)", cause: error))
            return nil
        }
    }

    /// Only where there are texts that the clock decides about.
    func clock(_ ledger: Ledger) -> Finding? {
        let name = "system-clock"
        do {
            guard let kept = try ledger.eventCounts().retention[.kept], kept > 0 else { return nil }
            guard let doubt = try ClockCheck(ledger).doubt(at: Date()) else {
                return .ok(name, "nothing seen here contradicts it")
            }
            let parts = "\(doubt)".split(separator: "; ", maxSplits: 1).map { String($0) }
            return .wrong(name, "no text is deleted: \(parts[0])", remedy: parts.last ?? "set it right")
        } catch {
            return .wrong(name, message: error.description, otherwise: "free the way to \(ledgerFile)", cause: error)
        }
    }

    /// - Parameter settings: `nil` where the configuration cannot be read.
    func verification(_ ledger: Ledger, _ settings: VerifySettings?, now: Date) -> Finding? {
        let name = "verification"
        guard let status = try? ledger.verificationStatus(at: now) else { return nil }
        let age = status.oldest.map { now.timeIntervalSince($0) } ?? 0
        let detail =
            status.oldest.map { "every stored object was proved since \($0.formatted(.iso8601))" }
            ?? "nothing is stored yet"
        if status.damaged + status.missing > 0 {
            return .wrong(
                name,
                "\(Quantities.counted(status.damaged, "object")) damaged and \(Quantities.count(status.missing)) "
                    + "missing in the store",
                remedy: "sync-agent sync stores again what is on this machine; sync-agent status names what is lost")
        }
        guard let settings, settings.percentPerDay > 0 else {
            return .limited(
                name, detail + "; verify.percent_per_day is 0",
                instead: "nothing is read back; sync-agent verify --all")
        }
        if let oldest = status.oldest, oldest.isAhead(of: now) {
            return .limited(
                name, "every stored object was proved since \(Quantities.ahead(oldest))",
                instead: "what was noted by a clock that was ahead is read first; sync-agent verify --all")
        }
        let days = Self.daySeconds * (100 / settings.percentPerDay + Self.graceDays)
        return age <= days
            ? .ok(name, detail)
            : .limited(
                name, detail + ", which is longer ago than verify.percent_per_day promises",
                instead: "it goes on as the agent runs and verify.max_usd_per_month allows; sync-agent verify --all")
    }

    /// Only where events are known.
    func retention(_ ledger: Ledger, _ installation: Installation) -> Finding? {
        let (name, now) = ("cleanup", installation.time.now())
        guard let status = try? installation.retentionOutlook.status(ledger, at: now),
            let detail = StatusReport.Retention(status).sentence(now: now)
        else { return nil }
        return status.overdue == 0
            ? .ok(name, detail)
            : .limited(name, detail, instead: "they keep their texts; sync-agent cleanup --report says why")
    }

    /// Whether the bytes of photos are kept, and what that costs.
    func originals(_ ledger: Ledger, _ installation: Installation, hasDecoder: Bool) -> Finding? {
        let name = "originals"
        let policy = installation.settings.photos.originals
        guard let keys = try? installation.keys,
            let status = try? ledger.originalsStatus(below: keys.originals), let prices = try? installation.prices()
        else { return nil }
        let report = CostReport.Originals(
            status, policy, in: installation.settings.tiers.mode == .off ? .standard : TierPolicy.archive, prices)
        let cost = report.sentence.map { " \($0)" } ?? ""
        if policy == .jxl, !hasDecoder {
            return .limited(
                name, "JPEG files cannot be recompressed without sync-agent-decoder",
                instead: "they are kept as they are; make install has it")
        }
        let detail =
            policy == .off
            ? "photos beyond \(installation.settings.photos.reduce.maximumDimension) pixels are stored reduced, and "
                + "smaller JPEG files encoded again where that saves a tenth; their own bytes are on this disk alone."
            : "\(Quantities.counted(status.kept, "original")) kept, \(Quantities.bytes(status.bytes))."
        return .ok(name, detail + cost)
    }

    /// Photos that are not safe, and will not be by waiting.
    func photos(_ ledger: Ledger) -> Finding? {
        let name = "photos"
        guard let overview = try? ledger.overview() else { return nil }
        let (failed, lost) = (overview.totals[.failed].files, overview.lost)
        if failed + lost == 0, overview.refusal == nil { return .ok(name, "none has failed, and none is lost") }
        var parts: [String] = []
        if let refusal = overview.refusal {
            let waiting = Quantities.counted(overview.totals.waiting, "photo waits", plural: "photos wait")
            parts.append("\(waiting), since the store took none when it was tried last (\(refusal))")
        }
        if failed > 0 { parts.append("\(Quantities.counted(failed, "photo")) failed") }
        if lost > 0 { parts.append("\(Quantities.counted(lost, "photo is", plural: "photos are")) lost") }
        return .limited(
            name, parts.joined(separator: ", "),
            instead: "they are not stored; sync-agent status names them and says why, sync-agent retry tries again")
    }

    private static let daySeconds = 86_400.0
    private static let graceDays = 30.0

    /// - Returns: whether an agent is at work.
    func checkAgent() -> Bool {
        let name = "agent"
        do {
            let lock = location.stateFolder.appending("agent.lock")
            if let holder = try AgentLock.currentHolder(at: lock) {
                checks.add(.ok(name, "running, process \(holder.pid), since \(holder.since.formatted(.iso8601))"))
                return true
            }
        } catch {
            checks.add(
                .wrong(
                    name, "the lock file cannot be read: \(error)", remedy: "check its owner and mode",
                    cause: CommandFailure.refused(name)))
            return false
        }
        checks.add(
            .limited(
                name, "none is running",
                instead: "new photos wait for the next sync-agent sync, or start: sync-agent run"))
        return false
    }

    // MARK: Space

    /// - Parameter places: what is written there, with its name for people.
    func checkSpace(_ places: [(what: String, path: FilePath)]) {
        var seen: [UInt64: Int] = [:]
        var volumes: [(what: [String], facts: FileSystemFacts)] = []
        for place in places {
            guard let facts = FileSystemFacts(nearest: place.path) else { continue }
            if let known = seen[facts.device] {
                volumes[known].what.append(place.what)
            } else {
                seen[facts.device] = volumes.count
                volumes.append(([place.what], facts))
            }
        }
        for volume in volumes { checks.add(Self.space(volume.what.joined(separator: " and "), volume.facts)) }
    }

    private static func space(_ what: String, _ facts: FileSystemFacts) -> Finding {
        let name = "free-space"
        let detail = "\(what): \(Quantities.bytes(facts.freeBytes)) free of \(Quantities.bytes(facts.totalBytes))"
        if facts.freeBytes < noSpace { return .wrong(name, detail, remedy: "free some space") }
        if facts.freeBytes < littleSpace || facts.freeBytes < facts.totalBytes / littlePart {
            return .limited(name, detail, instead: "work goes on until the disk is full; free some space")
        }
        return .ok(name, detail)
    }

    /// Failed photos that are looked through.
    private static let mostFailed = 1_000

    /// What `photos.strip_location` keeps on this machine; nothing where it is off.
    func places(_ ledger: Ledger, _ policy: ReducePolicy?) -> Finding? {
        guard let policy, policy.stripLocation else { return nil }
        let name = "positions"
        let promise = "no photo is stored with what says where it was taken"
        let kept = ((try? ledger.failedPhotos(limit: Self.mostFailed)) ?? [])
            .count { $0.error?.contains("photos.strip_location") == true }
        return kept == 0
            ? .ok(name, promise + "; what was stored before photos.strip_location was set is as it was")
            : .limited(
                name,
                "\(promise): \(Quantities.counted(kept, "file")) cannot be freed of it and \(kept == 1 ? "is" : "are") not "
                    + "stored",
                instead:
                    "sync-agent status names them. Remove the position from the files, or set photos.strip_location: "
                    + "false and run sync-agent retry")
    }
}
