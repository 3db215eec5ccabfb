import ArgumentParser
import Logging
import ServiceLifecycle
import SyncEngine
import SyncWatch

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Watch the folders and store what is new, until stopped.",
        discussion: """
            SIGTERM and SIGINT let the photos in flight finish, then the agent ends with exit code 0. Started by systemd \
            as Type=notify, it is ready when every change from then on will be seen.

            EXAMPLES
              sync-agent run
              sync-agent run --config /etc/sync-agent.yaml --verbose
              systemctl --user enable --now sync-agent
            """
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await Console.run { console in
            try await Workspace(global, console).whileOpen(serve)
        }
    }

    private func serve(_ workspace: Workspace) async throws -> Answer {
        let (installation, logger) = (workspace.installation, workspace.logger)
        try await workspace.takeLock()
        let parts = try await AgentServices(workspace) { event in
            if let (level, text) = event.logLine { logger.log(level: level, "\(text)") }
        }
        if let hint = try await RebuildHint.text(workspace) { logger.warning("\(hint)") }
        let systemd = SystemdNotifier(environment: installation.environment)
        let intake = IntakeService(parts.makeIntake(FolderWatcher())) {
            logger.notice("watching \(Quantities.counted(parts.folders.count, "folder"))")
            systemd.ready(status: "watching \(Quantities.counted(parts.folders.count, "folder"))")
        }
        let services: [any Service] = [
            UploadService(parts.pipeline, patience: parts.restores.patience),
            UpkeepService(parts.upkeep, work: parts.work, patience: parts.restores.patience, time: installation.time),
            parts.catalog, parts.restores.service, parts.vacations, parts.shares.service, parts.projectService,
            parts.retention.service(parts.restores.patience), intake, StopNotice(tell: systemd.stopping),
        ]
        try await ServiceGroup.run(services.map { .init(service: $0) }, logger: logger)
        logger.notice("stopped")
        return Answer()
    }

    /// Tells at the moment the agent is asked to stop, and not when it has.
    private struct StopNotice: Service {
        let tell: @Sendable () -> Void

        func run() async throws {
            try await gracefulShutdown()
            tell()
        }
    }
}
