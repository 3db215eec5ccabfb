import ArgumentParser
import SystemPackage

/// A path on the command line, or a name that may be one. Its bytes are kept, also where they are no UTF-8.
struct PathArgument: ExpressibleByArgument, Hashable, Sendable {
    /// As ``RawText``.
    let text: String

    init(_ text: String) { self.text = text }

    /// An empty one would be the working folder, and is a variable that was not set. `~` and `~/` are the home folder, as in
    /// the configuration: the shell leaves them where a wildcard is quoted. A folder of that name is `./~`.
    init?(argument: String) {
        if argument.isEmpty { return nil }
        self.init(Self.expandingHome(argument, home: ProcessEnvironment.current["HOME"]))
    }

    static func expandingHome(_ argument: String, home: String?) -> String {
        guard let home, home.hasPrefix("/"), argument == "~" || argument.hasPrefix("~/") else { return argument }
        return home + argument.dropFirst()
    }

    /// From the root.
    var path: FilePath { ProcessEnvironment.absolute(text) }
}

/// A path on the command line where something is to be written. It can only be had after it was held against the folders of
/// this program (``OutputPlace``): ``PathArgument`` is for what is read.
struct OutputArgument: ExpressibleByArgument, Hashable, Sendable {
    private let argument: PathArgument

    init(_ text: String) { argument = PathArgument(text) }

    init?(argument text: String) {
        guard let argument = PathArgument(argument: text) else { return nil }
        self.argument = argument
    }

    /// As ``RawText``; for what may turn out to be no path.
    var text: String { argument.text }

    /// Such as `zip`, in lower case.
    var ending: String? { argument.path.extension?.lowercased() }

    /// - Throws: ``CommandFailure`` for the folders of this program.
    func path(_ installation: Installation) throws -> FilePath {
        let path = argument.path
        _ = try OutputPlace(path, installation)
        return path
    }

    /// That of a folder for photos; tells what comes of saving them there.
    /// - Throws: as ``path(_:)``.
    func announcedPath(_ installation: Installation, _ console: Console) throws -> FilePath {
        let path = argument.path
        announce(try OutputPlace(path, installation).note, console)
        return path
    }

    /// The same for a command that needs no configuration.
    /// - Throws: as ``path(_:)``, by the configuration that is there.
    func announcedPath(ifConfigured global: GlobalOptions, _ console: Console) throws -> FilePath {
        let path = argument.path
        announce(try OutputPlace.note(path, ifConfigured: global, console.environment), console)
        return path
    }

    private func announce(_ note: String?, _ console: Console) {
        if let note { console.errors.wrapped(note).forEach(console.errors.writeLine) }
    }

    /// Of what is to be the store, or the configuration file that names it.
    /// - Throws: as ``path(_:)``, and for what would be in a watched folder.
    func pathOfStore(_ installation: Installation) throws -> FilePath {
        let path = argument.path
        try OutputPlace.check(newStore: path, installation)
        return path
    }

    /// Of the folder that a projects folder becomes.
    /// - Throws: as ``path(_:)``, also when the old one is not to be removed, or the new one could not be watched.
    func path(ofProjectsIn old: FilePath, _ installation: Installation) throws -> FilePath {
        let path = argument.path
        try OutputPlace.check(projectsIn: old, movedTo: path, installation)
        return path
    }
}
