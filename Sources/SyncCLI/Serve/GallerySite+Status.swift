import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages
import SystemPackage

/// How it stands, in the words of the commands.
extension GallerySite {
    /// The words of the command, but for where on this machine things lie.
    func status(_ session: String) async throws -> WebResponse {
        let terminal = Terminal(-1, isTerminal: false, [:], columns: 100)
        let lines =
            try await StatusReader(workspace).read().view(on: terminal).lines
            + ledger { try OverdueReport.history($0) }
        let places = try await places()
        return page(
            "Status", .status, session,
            .text(.init(lines.map(places.removed), button: isReadOnly ? nil : Self.examine, remark: Self.examination)),
            follows: true)
    }

    private static let examine = SitePage.Listing.Link("Check everything", "/doctor")
    private static let examination =
        "As sync-agent doctor: it tries the store with small objects, which are removed again, and may take a minute."

    /// What `doctor` finds. One at a time.
    func doctor(_ session: String) async throws -> WebResponse {
        let workspace = workspace
        let global = try GlobalOptions.parse(["--config", workspace.installation.location.file.string])
        let checks = Checks { _ in }
        try await examinations.withSlot {
            try await Examination(
                global: global, environment: workspace.console.environment, triesArchive: false, checks: checks
            ).run()
        }
        let view = DoctorView(terminal: Terminal(-1, isTerminal: false, [:], columns: 100))
        let lines = checks.findings.flatMap(view.lines) + ["", view.summary(checks.findings)]
        let places = try await places()
        return page(
            "Doctor", .status, session,
            .text(.init(lines.map(places.removed), button: Self.examine, remark: Self.examination)))
    }

    /// What is shown in place of this machine's folders.
    func places() async throws -> PlaceNames {
        let known = try await ledger { try $0.overview().folders.map(\.record.path) }
        return PlaceNames(workspace.installation, others: known)
    }
}
