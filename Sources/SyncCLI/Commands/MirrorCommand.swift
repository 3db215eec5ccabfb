import ArgumentParser
import SyncCore
import SyncEngine
import SystemPackage

struct MirrorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror",
        abstract: "Keep a copy of a share in a folder.",
        usage: "sync-agent mirror <share> [<dest>] [<options>]",
        discussion: """
            SHARE is an id, vacationphotos://share/ID, or the http(s) link of a share's page or manifest. A link is \
            all it needs: no configuration, no account. An id is looked up in the configured store. Without DEST, the \
            photos go to Pictures/Shares/ID in your home folder; make install lets desktops open vacationphotos:// \
            links that way.

            Run it again to resume, or to get what is new; what is there is not downloaded again. Photos that you \
            change or delete in DEST stay as you left them, unless --force says otherwise, and photos that leave the \
            share stay with you. Exit code 3 means that some photos could not be downloaded; each is named.

            EXAMPLES
              sync-agent mirror https://example.org/shares/ID/index.html ~/paris
              sync-agent mirror --preview vacationphotos://share/ID ~/paris
              sync-agent mirror --watch https://example.org/shares/ID/ ~/paris
            """
    )

    @Argument(help: ArgumentHelp("The share.", valueName: "share"))
    var reference: String

    @Argument(
        help: ArgumentHelp(
            "The destination folder; it is created if missing (default: ~/Pictures/Shares/ID).", valueName: "dest"),
        completion: .directory)
    var destination: OutputArgument?

    @Flag(help: "Only the first three photos.")
    var preview = false

    @Flag(help: "Keep checking for changes until the share ends, or until stopped.")
    var watch = false

    @Option(help: ArgumentHelp("How often --watch checks.", valueName: "seconds"))
    var interval = 300

    @Flag(help: "Download again what you changed or deleted, and replace files of the same name.")
    var force = false

    @Flag(help: "Keep the names of the owner's files, if the share includes them.")
    var originalNames = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if watch, preview { throw ValidationError("--preview fetches once; leave out --watch") }
        if !(1...86_400).contains(interval) { throw ValidationError("--interval takes 1 to 86400 seconds") }
    }

    func run() async throws {
        try await Console.run(json: options.json) { console in
            let reference = try ShareReference(reference)
            if case .link(let link) = reference, link.isPlain {
                console.errors.writeLine(
                    "\(link.origin) is read without encryption: others on the way can see the photos, and replace them")
            }
            let services = try MirrorServices(
                reference, to: try destination ?? Self.usualFolder(of: reference, console),
                options: ShareMirror.Options(isPreview: preview, isForced: force, keepsNames: originalNames),
                options.global, console)
            let status = try await closing(services.close) {
                try await MirrorSession(services: services, console: console)
                    .run(watchingEvery: watch ? .seconds(interval) : nil)
            }
            return Answer(status)
        }
    }

    /// A link may be clicked by somebody who is not asked for a folder.
    private static func usualFolder(of reference: ShareReference, _ console: Console) throws -> OutputArgument {
        guard let id = reference.shareID else {
            throw CommandFailure.usage("this link does not tell the id of the share: name the folder, too")
        }
        guard let home = console.environment["HOME"].map({ FilePath($0) }), home.isAbsolute else {
            throw CommandFailure.usage("HOME is not set: name the folder, too")
        }
        let folder = home.appending("Pictures").appending("Shares").appending(id.description)
        console.errors.writeLine("The photos come into \(folder.text.escapingControls)")
        return OutputArgument(folder.text)
    }
}
