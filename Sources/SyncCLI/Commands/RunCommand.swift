import ArgumentParser
import Logging
import ServiceLifecycle
import SyncConfig
import SyncCore
import SyncEngine
import SyncPhotos
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
        let originals: (any Service)? = parts.originals.map {
            OriginalService($0, patience: parts.restores.patience, time: installation.time, logger: logger)
        }
        let gallery: (any Service)? = workspace.settings.serve.isEnabled ? GalleryService(workspace: workspace) : nil
        let services: [any Service] =
            [originals, gallery].compactMap(\.self) + [
                UploadService(parts.pipeline, patience: parts.restores.patience),
                UpkeepService(
                    parts.upkeep, work: parts.work, patience: parts.restores.patience, time: installation.time),
                parts.catalog, parts.restores.service, parts.vacations, parts.shares.service, parts.projectService,
                parts.retention.service(parts.restores.patience), parts.monitoring, intake,
                StopNotice(tell: systemd.stopping),
                DecoderRest(pictures: workspace.pictures, time: installation.time),
            ]
        try await ServiceGroup.run(services.map { .init(service: $0) }, logger: logger)
        logger.notice("stopped")
        return Answer()
    }

    /// Decoders that had nothing to do have ended: none is left as a zombie for long.
    private struct DecoderRest: Service {
        private static let interval = Duration.seconds(60)

        let pictures: PictureWorkers
        let time: TimeSource

        func run() async throws {
            do {
                try await cancelWhenGracefulShutdown {
                    while true {
                        try await time.sleep(Self.interval)
                        pictures.removeEnded()
                    }
                }
            } catch is CancellationError {
                // Told to stop.
            }
        }
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
