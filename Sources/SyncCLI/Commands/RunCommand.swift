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
            SIGTERM and SIGINT let the photos in flight finish, then the agent ends with exit code 0. Started by \
            systemd as Type=notify, it reports ready once watching has begun.

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
        let agent = try await AgentServices(workspace) { event in
            if let (level, text) = event.logLine { logger.log(level: level, "\(text)") }
        }
        if let hint = try await RebuildHint.text(workspace) { logger.warning("\(hint)") }
        let systemd = SystemdNotifier(environment: installation.environment)
        let intake = IntakeService(agent.makeIntake(FolderWatcher(progress: agent.watchdog.noteWatching))) {
            logger.notice("watching \(Quantities.counted(agent.folders.count, "folder"))")
            systemd.ready(status: "watching \(Quantities.counted(agent.folders.count, "folder"))")
        }
        let originals: (any Service)? = agent.originals.map {
            OriginalService($0, patience: agent.restores.patience, time: installation.time, logger: logger)
        }
        let gallery: (any Service)? = workspace.settings.serve.isEnabled ? GalleryService(workspace: workspace) : nil
        let services: [any Service] =
            [originals, gallery].compactMap(\.self) + [
                UploadService(agent.pipeline, patience: agent.restores.patience),
                UpkeepService(
                    agent.upkeep, work: agent.work, patience: agent.restores.patience, time: installation.time),
                agent.catalog, agent.restores.service, agent.vacations, agent.shares.service, agent.projectService,
                agent.retention.service(agent.restores.patience), agent.monitoring,
                agent.diskWatchdogService(every: DiskWatchdog.turn), intake,
                StopNotice(report: systemd.stopping),
                DecoderRest(pictures: workspace.pictures, time: installation.time),
            ]
        try await ServiceGroup.run(services, logger: logger)
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
        let report: @Sendable () -> Void

        func run() async throws {
            try await gracefulShutdown()
            report()
        }
    }
}

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Show the photos and their state in a browser.",
        usage: "sync-agent serve [--listen <address:port>] [--read-only] [<options>]",
        discussion: """
            Prints an address that opens the gallery once; the browser then stays signed in for 90 days. Archived \
            photos can be restored from there: what it costs and how long it takes is shown first. Vacations can be \
            shared from there, too. With the embedded store, shares are served under /s/ to everybody who has the \
            link. If no agent is running, it carries out these requests itself.

            Only this machine can reach it, unless --listen says otherwise: then serve.password_file has to name a \
            file with a password. The agent shows the gallery too if serve.enabled is true.

            EXAMPLES
              sync-agent serve
              sync-agent serve --listen 127.0.0.1:9000 --read-only
              sync-agent serve --listen 0.0.0.0:8420
            """
    )

    @Option(help: ArgumentHelp("Where to listen (default: serve.listen).", valueName: "address:port"))
    var listen: ListenAddress?

    @Flag(help: "Read-only: nothing can be restored or shared from there.")
    var readOnly = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await Console.run { console in
            try await Workspace(global, console).whileOpen(serve)
        }
    }

    private func serve(_ workspace: Workspace) async throws -> Answer {
        let output = workspace.console.output
        let server = try await GalleryServer(workspace, at: listen, isReadOnly: readOnly) { shown in
            if shown.isFirst {
                output.writeLine("The gallery is at \(shown.link)")
                output.writeLine("That address opens once, within a day. Ctrl-C ends the gallery.")
            } else {
                output.writeLine("The next one: \(shown.link)")
            }
        }
        try await ServiceGroup.run([server], logger: workspace.logger)
        return Answer()
    }
}

extension ListenAddress: ExpressibleByArgument {
    init?(argument: String) {
        guard let address = try? ListenAddress(argument) else { return nil }
        self = address
    }
}
