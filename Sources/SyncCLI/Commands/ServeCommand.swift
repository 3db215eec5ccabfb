import ArgumentParser
import Logging
import ServiceLifecycle
import SyncCore
import SyncEngine

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
        try await ServiceGroup.run([.init(service: server)], logger: workspace.logger)
        return Answer()
    }
}

extension ListenAddress: ExpressibleByArgument {
    init?(argument: String) {
        guard let address = try? ListenAddress(argument) else { return nil }
        self = address
    }
}
