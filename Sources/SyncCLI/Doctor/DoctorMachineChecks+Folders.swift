import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncWatch
import SystemPackage

/// What `doctor` says of the watched folders.
extension DoctorMachineChecks {
    /// Says of each folder whether it can be read and how it is watched: as the agent that runs notes it, else by trying.
    func checkFolders(_ folders: [WatchedFolder], ledger: Ledger?, agentRuns: Bool) async {
        let name = "watched-folder"
        guard !folders.isEmpty else {
            return checks.add(
                .limited(name, "no folder is watched, so nothing is stored", instead: "add one under watch"))
        }
        let readable = await pool.finish { usable(folders, name) }
        let known = try? ledger?.overview().folders.map(\.record)
        let records = known ?? []
        let reports =
            agentRuns
            ? records.compactMap { record in
                record.watching.map { WatchReport(root: record.path, mode: $0, note: record.note) }
            }
            : await Self.triedReports(readable.map(\.folder.path), untold: records.untold(at: Date()))
        let strange = await pool.finish { Self.otherDrives(records, ledger, name) }
        for (folder, facts) in readable {
            if let finding = strange[folder.path] {
                checks.add(finding)
                continue
            }
            let place = "\(folder.path.string.escapingControls), \(facts.type ?? "unknown file system")"
            if agentRuns, known?.contains(where: { $0.isWatched(as: folder) }) == false {
                checks.add(
                    .limited(
                        name, "\(place): the agent at work does not know it as it is configured",
                        instead: "what is new in it may not be stored until the agent is started again"))
                continue
            }
            let record = records.first { $0.path == folder.path }
            if !agentRuns, known != nil, let unseen = UnseenFolder(folder, record) {
                checks.add(
                    .limited(
                        name, "\(place): \(unseen.words)",
                        instead: "nobody knows whether all that is in it is stored; run sync-agent sync"))
                continue
            }
            switch reports.first(where: { $0.root == folder.path }) {
            case let report? where report.mode == .polling || report.note != nil:
                checks.add(
                    .limited(
                        name, "\(place): " + (report.mode == .polling ? "polled" : "partly watched"),
                        instead: report.note ?? "changes are seen some seconds later"))
            case .some: checks.add(.ok(name, "\(place), watched by inotify"))
            case nil: checks.add(.ok(name, place))
            }
        }
        await pool.finish { checks.add(Self.inotify(readable.filter { !$0.facts.isRemote }.map(\.folder.path))) }
    }

    /// Folders in which another drive is than the one that photos were found on. What cannot be told is no finding.
    private static func otherDrives(
        _ folders: [FolderRecord], _ ledger: Ledger?, _ name: String
    ) -> [FilePath: Finding] {
        guard let ledger else { return [:] }
        let drives = FolderDrives(ledger: ledger, scanner: FileTreeScanner())
        return folders.reduce(into: [:]) { findings, folder in
            guard let other = try? drives.others(in: folder).first else { return }
            findings[folder.path] = .wrong(
                name, "\(other.path.text.escapingControls): \(other.words)", remedy: other.remedy)
        }
    }

    private func usable(
        _ folders: [WatchedFolder], _ name: String
    ) -> [(folder: WatchedFolder, facts: FileSystemFacts)] {
        folders.compactMap { folder in
            do throws(Errno) {
                try InotifyNeed.requireReadable(folder.path)
                return (folder, try FileSystemFacts(at: folder.path))
            } catch {
                checks.add(Self.unreadable(name, folder.path, error))
                return nil
            }
        }
    }

    private static func unreadable(_ name: String, _ path: FilePath, _ error: Errno) -> Finding {
        let remedy =
            switch error {
            case .noSuchFileOrDirectory: "create it, mount its disk, or correct watch"
            case .permissionDenied, .notPermitted: "let this user read it, and all folders above it"
            default: "check the disk, or correct watch"
            }
        return .wrong(
            name, "\(path.string.escapingControls): \(error.description.lowercased())", remedy: remedy,
            cause: error.isRefusal ? CommandFailure.refused(name) : nil)
    }

    /// The watcher itself, for as long as it takes to set up: what other programs use of the limits is known in no other
    /// way.
    private static func triedReports(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async -> [WatchReport] {
        let watcher = FolderWatcher()
        await watcher.start(roots, untold: untold)
        let reports = watcher.reports()
        await watcher.stop()
        return reports
    }

    private static func inotify(_ roots: [FilePath]) -> Finding {
        let name = "inotify"
        let needed = roots.reduce(0) { $0 + ((try? InotifyNeed.folders(below: $1)) ?? 0) }
        let folders = Quantities.counted(needed, "folder")
        guard let watches = InotifyNeed.allowedWatches, let instances = InotifyNeed.allowedInstances else {
            return .limited(name, "the system does not tell its limits", instead: "what cannot be watched is polled")
        }
        let detail =
            "\(folders) to watch; \(Quantities.count(watches)) watches and \(Quantities.count(instances)) instances "
            + "are allowed for all programs of this user"
        // Others need some, too: an editor or a file manager may hold thousands.
        if needed > watches / 2 {
            return .limited(name, detail, instead: InotifyNeed.remedy(watches: max(needed * 4, 524_288)))
        }
        if roots.count > instances / 2 {
            return .limited(name, detail, instead: InotifyNeed.remedy(instances: instances * 2))
        }
        return .ok(name, detail)
    }
}
