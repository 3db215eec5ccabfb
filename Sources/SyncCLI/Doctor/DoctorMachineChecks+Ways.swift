import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// What tells people how it stands, and what others may see. Of the ways, only what is configured is looked at, and
/// nobody is told anything.
extension DoctorMachineChecks {
    /// `nil` where every share that is over is removed.
    func shares(_ ledger: Ledger, now: Date) -> Finding? {
        guard let troubles = try? ledger.shareTroubles(at: now), let words = StatusReport.Shares(troubles).words else {
            return nil
        }
        return .wrong(
            "shares", words, remedy: "see to the reason: an agent, or the next sync-agent sync, tries it again")
    }

    func checkWays(_ settings: Settings) {
        checks.add(notices(settings.notify.command))
        checks.add(metrics(settings.metrics.textfile))
        checks.add(password(settings.serve.passwordFile))
    }

    /// - Returns: `nil` for a program without a path: which one that is, the agent's environment says.
    private func notices(_ command: [String]) -> Finding? {
        guard let program = command.first, program.contains("/") else { return nil }
        let name = "notices"
        let shown = program.escapingControls
        let path = FilePath(program)
        // Of a folder, it is another right.
        let isFile = (try? FileStatus(at: path, followsLinks: true))?.kind == .file
        return isFile && path.allows([.execute])
            ? .ok(name, "notify.command can be started: \(shown)")
            : .wrong(name, "notify.command (\(shown)) cannot be started", remedy: "check its path and mode")
    }

    private func metrics(_ file: FilePath?) -> Finding? {
        guard let file else { return nil }
        let name = "metrics"
        let shown = file.text.escapingControls
        return file.removingLastComponent().allows([.write, .execute])
            ? .ok(name, "metrics.textfile can be written: \(shown)")
            : .wrong(
                name, "metrics.textfile (\(shown)) cannot be written",
                remedy: "make its folder, mount its disk, or let this user write there")
    }

    private func password(_ file: FilePath?) -> Finding? {
        guard let file else { return nil }
        let name = "gallery"
        do {
            _ = try GalleryServer.password(file)
            return .ok(name, "serve.password_file can be used")
        } catch {
            return .wrong(
                name, message: "the gallery is not shown: \(error)", otherwise: "see docs/gallery.md", cause: error)
        }
    }
}
