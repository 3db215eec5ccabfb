import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncS3
import SystemPackage

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a commented configuration and create the folders.",
        usage: "sync-agent init [<options>]",
        discussion: """
            Without options, photos are kept in a folder of this machine: no server and no account is needed. An \
            existing configuration is never overwritten.

            EXAMPLES
              sync-agent init
              sync-agent init --root ~/Photos --store-path /mnt/backup/photos
              sync-agent init --store s3 --bucket my-photos --region eu-central-1
              sync-agent init --store s3 --bucket my-new-photos --create-bucket
              sync-agent init --store s3 --bucket photos --endpoint http://nas.local:9000
            """
    )

    enum StoreChoice: String, ExpressibleByArgument, CaseIterable {
        case directory, s3
    }

    @Option(help: "Where copies go: a folder of this machine, or a bucket.")
    var store: StoreChoice = .directory

    @Option(
        help: ArgumentHelp(
            "Folder that holds Gallery, Vacations and Projects (default: ~/Pictures).", valueName: "dir"),
        completion: .directory)
    var root: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Folder of the embedded store (default: ~/.local/share/sync-agent/store).", valueName: "dir"),
        completion: .directory)
    var storePath: PathArgument?

    @Option(help: "Bucket of an S3 store.")
    var bucket: String?

    @Flag(help: "Make the bucket, closed to the public, where there is none. One that is there already stays as it is.")
    var createBucket = false

    @Option(help: "Region of an S3 store (default: that of the AWS configuration).")
    var region: String?

    @Option(help: ArgumentHelp("Address of an S3 store that is not Amazon's.", valueName: "url"))
    var endpoint: String?

    @Option(help: "Key prefix in an S3 store.")
    var prefix: String?

    @Option(help: ArgumentHelp("Profile of the shared AWS files.", valueName: "name"))
    var awsProfile: String?

    @Option(
        help: ArgumentHelp(
            "User name that objects are stored under (default: yours on this machine).", valueName: "name")
    )
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Whether the bytes of photos are kept beside their reduced copies: false, true, or jxl (JPEG files as JPEG XL). On a terminal it asks.",
            valueName: "how"))
    var keepOriginals: OriginalsPolicy?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        switch store {
        case .directory:
            guard bucket == nil, !createBucket, region == nil, endpoint == nil, prefix == nil, awsProfile == nil else {
                throw ValidationError(
                    "--bucket, --create-bucket, --region, --endpoint, --prefix and --aws-profile belong to --store s3; add it, or leave them out"
                )
            }
        case .s3:
            guard storePath == nil else {
                throw ValidationError("--store-path belongs to --store directory; leave it out")
            }
            guard bucket?.isEmpty == false else { throw ValidationError("--store s3 needs --bucket") }
        }
    }

    func run() async throws {
        try await Console.run { console in
            let location = try ConfigLocation(
                option: global.configurationFile?.text, environment: console.environment,
                workingFolder: ProcessEnvironment.workingFolder)
            var template = try template(for: location)
            // Refused before anything is asked.
            _ = try checked(template, at: location)
            template.originals = keepOriginals ?? askForOriginals(on: console.people)
            let settings = try checked(template, at: location)
            try FolderMaker().requireFree(location.file)
            let table = Table(.left(15), .rest)
            var lines = [table.row("configuration", location.file.string)]
            var folders: [(path: FilePath, permissions: FilePermissions)] = []
            for folder in settings.watch {
                folders.append((folder.path, FolderMaker.watched))
                lines.append(table.row(folder.kind.rawValue, folder.path.string))
            }
            if case .directory(let directory) = settings.store {
                folders.append((directory.path, .ownerReadWriteExecute))
                lines.append(table.row("store", directory.path.string))
            }
            if createBucket, case .s3(let s3) = settings.store {
                lines += try await makeBucket(s3, console, table)
            }
            if template.timeZone == nil {
                lines +=
                    [""]
                    + console.people.wrapped(
                        "The time zone of this machine has no name that could be found: retention.time_zone is "
                            + "\(settings.retention.timeZone.identifier). Set it in the configuration.")
            }
            try FolderMaker().makeAll(folders, template.text, at: location.file)
            lines += ["", "Drop photos into one of the folders, then: sync-agent sync, or sync-agent run"]
            return Answer(lines: lines)
        }
    }

    /// - Returns: what to say of it.
    private func makeBucket(_ s3: S3StoreSettings, _ console: Console, _ table: Table) async throws -> [String] {
        let store = try S3Store(settings: S3Settings(s3), environment: console.environment, now: TimeSource.system.now)
        let creation = try await closing(store.close) { try await store.createBucket() }
        let name = store.identity.location
        return switch creation {
        case .existing(isOpen: false): [table.row("bucket", "\(name): is there already, and was left as it is")]
        case .existing(isOpen: true):
            [table.row("bucket", "\(name): is there already, and was left as it is")] + [""]
                + console.people.wrapped(
                    "Nothing blocks public access to the bucket. Block it in the console of the store, unless others are to "
                        + "read it.")
        case .closed: [table.row("bucket", "\(name): is there already; public access to it is blocked now")]
        case .created(nil): [table.row("bucket", "\(name): created, and public access is blocked")]
        case .created(let reason?):
            [table.row("bucket", "\(name): created")] + [""]
                + console.people.wrapped(
                    "Public access to the bucket is not blocked by a setting of its own (\(reason)). See that nobody else "
                        + "may read it.")
        }
    }

    private func askForOriginals(on terminal: Terminal) -> OriginalsPolicy {
        guard Question.isSomebodyThere else { return .off }
        let cost =
            store == .s3
            ? "In Amazon's DEEP_ARCHIVE, 100 GiB of photos cost about 8 cents a month and come back within 12 to 48 hours."
            : "They take about four fifths of the space that the photos take."
        terminal.wrapped(
            "Photos beyond 2048 pixels are stored reduced: good to look at, not to print. Smaller JPEG files are "
                + "encoded again where that saves a tenth. Their own bytes can be kept, too, as JPEG XL, from which "
                + "the same file comes back. \(cost)"
        ).forEach(terminal.writeLine)
        return Question.confirm("Keep the originals?", on: terminal) ? .jxl : .off
    }

    private func template(for location: ConfigLocation) throws -> ConfigTemplate {
        func absolute(_ argument: PathArgument?, else fallback: String) throws -> FilePath {
            if let argument {
                guard argument.path.isText else {
                    throw CommandFailure.usage(
                        "\(argument.path.text.escapingControls): the configuration is text in UTF-8 and cannot name this folder; name another, or a symbolic link to it"
                    )
                }
                return argument.path
            }
            guard let home = location.home else {
                throw CommandFailure.configuration(
                    "HOME is not set; set it, or name the folders with --root and --store-path")
            }
            return home.pushing(FilePath(fallback)).lexicallyNormalized()
        }
        let root = try absolute(root, else: "Pictures")
        let storeSettings: StoreSettings
        switch store {
        case .directory:
            storeSettings = .directory(
                DirectoryStoreSettings(path: try absolute(storePath, else: ".local/share/sync-agent/store")))
        case .s3:
            storeSettings = .s3(
                S3StoreSettings(
                    bucket: bucket ?? "", region: region, endpoint: try endpoint.map(Self.url), prefix: prefix ?? "",
                    profile: awsProfile))
        }
        return ConfigTemplate(
            user: user ?? ProcessEnvironment.userName ?? "me", store: storeSettings,
            watch: [
                WatchedFolder(kind: .gallery, path: root.appending("Gallery")),
                WatchedFolder(kind: .vacations, path: root.appending("Vacations")),
                WatchedFolder(kind: .projects, path: root.appending("Projects")),
            ],
            location: location, timeZone: MachineZoneName(ProcessEnvironment.current["TZ"]).zone)
    }

    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else {
            throw CommandFailure.usage("--endpoint \(text): this is no address; write it as https://host:port")
        }
        return url
    }

    /// What is about to be written has to be a configuration that the other commands accept.
    private func checked(_ template: ConfigTemplate, at location: ConfigLocation) throws -> Settings {
        let settings: Settings
        do {
            settings = try ConfigFile.parse(Array(template.text.utf8), location: location).settings
        } catch {
            throw CommandFailure.configuration(Self.message(error))
        }
        try OutputPlace.check(new: settings, at: location)
        return settings
    }

    /// Nobody has seen the lines of a file that is not written: it tells of the options that they come from.
    private static func message(_ error: ConfigError) -> String {
        let options = [
            "user": "--user", "store.path": "--store-path", "store.bucket": "--bucket", "store.region": "--region",
            "store.endpoint": "--endpoint", "store.prefix": "--prefix", "store.profile": "--aws-profile",
        ]
        var lines: [String] = []
        for problem in error.problems {
            let option = problem.path.hasPrefix("watch[") ? "--root" : options[problem.path]
            let line = option.map { "\($0): \(problem.message)" } ?? problem.description
            // Of the three folders of a root, all that is wrong with one is often wrong with the others.
            if !lines.contains(line) { lines.append(line) }
        }
        return lines.joined(separator: "\n")
    }
}

extension OriginalsPolicy: ExpressibleByArgument {}

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check the configuration, or explain its keys.",
        discussion: """
            EXAMPLES
              sync-agent config check
              sync-agent config reference | less
            """,
        subcommands: [CheckCommand.self, ReferenceCommand.self]
    )

    struct CheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the configuration, and show what is wrong where.",
            discussion: """
                EXAMPLES
                  sync-agent config check
                  sync-agent config check --config ./new.yaml
                """
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await Console.run { console in
                let installation = try Installation(global, environment: console.environment)
                try OutputPlace.check(installation.settings, at: installation.location)
                let folders = Quantities.counted(installation.settings.watch.count, "folder")
                return Answer(lines: ["\(installation.location.file.string): all right, \(folders) watched"])
            }
        }
    }

    struct ReferenceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reference",
            abstract: "Explain every key of the configuration.",
            discussion: """
                EXAMPLES
                  sync-agent config reference | less
                  sync-agent config reference --json
                """
        )

        @Flag(help: "Print the keys as one JSON object.")
        var json = false

        func run() async throws {
            try await Console.run(json: json) { _ in
                Answer(["keys": ConfigReference.entries]) { _ in
                    ConfigReference.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                        String.init)
                }
            }
        }
    }
}
