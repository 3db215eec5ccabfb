import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// How it stands, in the words of the commands.
extension GallerySite {
    /// The words of the command, but for where on this machine things lie.
    func status(_ session: String) async throws -> WebResponse {
        let lines =
            try await StatusReader(workspace: workspace).read().view(on: Self.terminal).lines
            + ledger { try OverdueReport.history($0) }
        return try await printed("Status", lines, session, follows: true)
    }

    private static let terminal = Terminal(-1, isTerminal: false, [:], columns: 100)

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
        let view = DoctorView(terminal: Self.terminal)
        let lines = checks.findings.flatMap(view.lines) + ["", view.summary(checks.findings)]
        return try await printed("Doctor", lines, session)
    }

    private func printed(
        _ title: String, _ lines: [String], _ session: String, follows: Bool = false
    ) async throws -> WebResponse {
        let places = try await places()
        let text = SitePage.Text(
            lines: lines.map(places.removed).joined(separator: "\n"),
            button: isReadOnly ? nil : .init("Check everything", "/doctor"),
            remark: "As sync-agent doctor: it tries the store with small objects, which are removed again, and may "
                + "take a minute.")
        return page(title, .status, session, .text(text), follows: follows)
    }

    /// What is shown in place of this machine's folders.
    func places() async throws -> PlaceNames {
        let known = try await ledger { try $0.overview().folders.map(\.record.path) }
        return PlaceNames(workspace.installation, others: known)
    }
}
