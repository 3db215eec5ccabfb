import SyncConfig
import SyncCore
import SyncSystem
import SyncWatch
import SystemPackage

/// Where a person wants files, held against the folders that this program looks into. Commands get there by
/// ``OutputArgument``.
struct OutputPlace {
    /// What is to be known before photos are saved there; `nil` when there is nothing.
    let note: String?

    /// - Parameter path: of a file or a folder, absolute.
    /// - Throws: ``CommandFailure`` for the folders of this program: what is in them is its own.
    init(_ path: FilePath, _ installation: Installation) throws {
        try self.init(path, installation.settings, at: installation.location)
    }

    /// - Parameter settings: `nil` where there is no configuration: only the state folder is known then.
    private init(_ path: FilePath, _ settings: Settings?, at location: ConfigLocation) throws {
        let place = FolderPlace(path)
        let own = Self.own(settings, at: location)
        if let own = own.first(where: { place.isIn($0.place) }) ?? Own(around: place) { throw own.isTaken(path) }
        let watched = settings?.watch.first { place.isIn(FolderPlace($0.path)) }
        note = watched.map { watched in
            "\(path.text.escapingControls) is in the watched folder \(watched.path.text.escapingControls): what is saved there "
                + "counts as photos of that folder. Copies that are stored already are known by their bytes, and are not "
                + "stored again."
        }
    }

    /// The same for a command that needs no configuration: held against the one that is there, if there is one.
    /// - Returns: the note.
    // Swift 6.3.1 crashes where it optimises an async function with this in it.
    @inline(never)
    static func note(
        _ path: FilePath, ifConfigured global: GlobalOptions, _ environment: [String: String]
    ) throws -> String? {
        // Where the environment tells no place for them, there is neither a configuration nor a state.
        guard
            let location = try? ConfigLocation(
                option: global.configurationFile?.text, environment: environment,
                workingFolder: ProcessEnvironment.workingFolder)
        else { return nil }
        if let loaded = try? ConfigFile.load(location) {
            return try OutputPlace(path, loaded.settings, at: location).note
        }
        _ = try OutputPlace(path, nil, at: location)
        guard (try? FileStatus(at: location.file)) != nil else { return nil }
        return "The configuration \(location.file.text.escapingControls) cannot be read, so that nobody knows whether "
            + "\(path.text.escapingControls) is in a watched folder; `sync-agent config check` tells what is wrong."
    }

    /// The same once more, right before something is made there: since a person was asked, or a store was waited for, a link on
    /// the way may lead elsewhere.
    // Swift 6.3.1 crashes where it optimises an async function with this in it.
    @inline(never)
    static func checkAgain(_ path: FilePath, _ installation: Installation) throws {
        _ = try OutputPlace(path, installation)
    }

    /// The same of folders below an output: what is there already may be a folder of this program, or lead into one, by
    /// a link or a bind mount.
    // Swift 6.3.1 crashes where it optimises an async function with this in it.
    @inline(never)
    static func check(_ folders: Set<FilePath>, below output: FilePath, _ installation: Installation) throws {
        var seen: Set<FilePath> = []
        let mounts = MountedNames.points()
        for folder in folders {
            var place = output.pushing(folder)
            while place != output, place.starts(with: output), seen.insert(place).inserted {
                if let kind = (try? FileStatus(at: place))?.kind {
                    // All others are where the folder above them is.
                    let leads = kind == .link || place.resolved.map { mounts.contains($0) } ?? false
                    if leads { try checkAgain(place, installation) }
                    if let own = Own(at: place) {
                        throw own.failure(place, .same, "where nothing else may be; name another folder")
                    }
                }
                place.removeLastComponent()
            }
        }
    }

    /// The same of a new store, which may be the one that is there already under another name.
    static func check(newStore path: FilePath, _ installation: Installation) throws {
        let place = FolderPlace(path)
        for own in own(installation.settings, at: installation.location) {
            switch (own.kind, place.relation(to: own.place)) {
            // The store that there is may be named anew.
            case (_, nil), (.store, .same?): continue
            case (_, .around?): throw own.failure(path, .around, "which no store may; name another folder")
            case (_, .same?), (_, .inside?): throw own.isTaken(path)
            }
        }
        let file = installation.location.file
        if FolderPlace(file).isIn(place) {
            throw CommandFailure.usage(
                "\(path.text.escapingControls) holds the configuration, \(file.text.escapingControls), and nothing else may be "
                    + "in a store; name another folder")
        }
        for watched in installation.settings.watch {
            guard let relation = place.relation(to: FolderPlace(watched.path)) else { continue }
            throw CommandFailure.configuration(
                "\(path.text.escapingControls) \(relation == .around ? "holds" : "is in") the watched folder "
                    + "\(watched.path.text.escapingControls), and what is stored would be stored again; name another folder"
            )
        }
    }

    /// The folders of a configuration and its own file, held against each other where it only compares paths, and not those of
    /// store and state folder: by links and bind mounts, one may be in another all the same. It asks each of their disks, and
    /// may have to wait for one.
    /// - Parameters:
    ///   - remedy: where store and state folder are not apart.
    ///   - ofFile: what to do about a configuration in one of the two, and the exit code of that.
    /// - Throws: ``CommandFailure`` for the first that is not apart.
    static func check(
        _ settings: Settings, at location: ConfigLocation,
        remedy: String = "sync-agent move-store moves it to another folder",
        ofFile: (remedy: String, status: ExitStatus) = (
            "move the file out of it, and name it with --config", .configuration
        )
    ) throws(CommandFailure) {
        let own = own(settings, at: location)
        if let store = own.first(where: { $0.kind == .store }), let state = own.first(where: { $0.kind == .state }),
            let relation = store.place.relation(to: state.place)
        {
            throw state.failure(store.folder, relation, "and the two have to be apart; \(remedy)", .configuration)
        }
        let file = FolderPlace(location.file)
        if let own = own.first(where: { file.isIn($0.place) }) {
            throw own.failure(location.file, .inside, "where nothing else may be; \(ofFile.remedy)", ofFile.status)
        }
        let watched = settings.watch.map { (path: $0.path, place: FolderPlace($0.path)) }
        for (index, folder) in watched.enumerated() {
            for own in own {
                guard let relation = folder.place.relation(to: own.place) else { continue }
                throw own.failure(
                    folder.path, relation, "and the agent would upload its own files; name another folder under watch",
                    .configuration)
            }
            for other in watched[..<index] {
                guard let relation = folder.place.relation(to: other.place) else { continue }
                throw CommandFailure.configuration(
                    "\(folder.path.text.escapingControls) \(relation.rawValue) the watched folder "
                        + "\(other.path.text.escapingControls), and a photo may be in one watched folder only; leave one "
                        + "of the two out of watch")
            }
        }
    }

    /// The same of a configuration that is to be written.
    static func check(new settings: Settings, at location: ConfigLocation) throws(CommandFailure) {
        try check(
            settings, at: location, remedy: "name another folder for the store",
            ofFile: ("name another file with --config", .usage))
    }

    /// The same of a projects folder that is moved: the old one is removed in the end, and the new one is to be watched.
    static func check(projectsIn old: FilePath, movedTo new: FilePath, _ installation: Installation) throws {
        let (oldPlace, newPlace) = (FolderPlace(old), FolderPlace(new))
        if (try? FileStatus(at: old, followsLinks: false).kind) == .link {
            throw CommandFailure.usage(
                "\(old.text.escapingControls) is a link, and no folder that could be moved; name the folder itself")
        }
        // One of two names for a folder must not be removed.
        guard oldPlace.relation(to: newPlace) == nil else {
            throw CommandFailure.usage("one of the folders lies in the other; name two that are apart")
        }
        let own = own(installation.settings, at: installation.location)
        for own in own + configuration(installation) {
            guard let relation = oldPlace.relation(to: own.place) else { continue }
            // A configuration may be anywhere, as beside the photos.
            if !own.kind.isWhole, relation == .inside { continue }
            throw own.failure(old, relation, "which would go with it; name the projects folder")
        }
        for own in own {
            guard let relation = newPlace.relation(to: own.place) else { continue }
            throw relation == .around
                ? own.failure(new, relation, "which no watched folder may; name another folder") : own.isTaken(new)
        }
        for watched in installation.settings.watch {
            let place = FolderPlace(watched.path)
            let isProjects = watched.kind == .projects
            func failure(_ path: FilePath, _ relation: FolderPlace.Relation, _ remedy: String) -> CommandFailure {
                CommandFailure.usage(
                    "\(path.text.escapingControls) \(relation.rawValue) the watched folder "
                        + "\(watched.path.text.escapingControls) (\(watched.kind.rawValue)), \(remedy)")
            }
            switch oldPlace.relation(to: place) {
            case nil: break
            case .same where isProjects, .inside where isProjects: break
            case let relation?: throw failure(old, relation, "which would go with it; name the projects folder")
            }
            switch newPlace.relation(to: place) {
            case nil: break
            case .same where isProjects: break
            case let relation?:
                throw failure(new, relation, "and no watched folder may lie in another; name another folder")
            }
        }
    }

    /// A folder of this program.
    private struct Own {
        enum Kind: String {
            case store
            case state = "state folder"
            case configuration = "folder of the configuration"
            case named = "file that the configuration names"

            /// Whether all that is in it is this program's.
            var isWhole: Bool { self == .store || self == .state }
        }

        let folder: FilePath
        let kind: Kind

        init(folder: FilePath, kind: Kind) { (self.folder, self.kind) = (folder, kind) }

        /// The store or the state folder that a place is in, known by what lies in it: whatever configuration it is of,
        /// and without one. A ledger's name alone may be that of another program's file, in a folder above all that
        /// a person has.
        init?(around place: FolderPlace) {
            if let store = place.first(where: Self.isStore) {
                self.init(folder: store, kind: .store)
            } else if let state = place.first(where: Self.isState) {
                self.init(folder: state, kind: .state)
            } else {
                return nil
            }
        }

        /// The store or the state folder that a folder itself is, known likewise.
        init?(at folder: FilePath) {
            if Self.isStore(folder) {
                self.init(folder: folder, kind: .store)
            } else if Self.isState(folder) {
                self.init(folder: folder, kind: .state)
            } else {
                return nil
            }
        }

        private static func isStore(_ folder: FilePath) -> Bool { isFile(folder.appending(StoreMarker.name)) }

        private static func isState(_ folder: FilePath) -> Bool {
            isFile(folder.appending(Installation.ledgerName)) && isFile(folder.appending(Installation.lockName))
        }

        private static func isFile(_ path: FilePath) -> Bool { (try? FileStatus(at: path).kind) == .file }

        var place: FolderPlace { FolderPlace(folder) }

        func isTaken(_ path: FilePath) -> CommandFailure {
            failure(path, .inside, "where nothing else may be; name another folder")
        }

        func failure(
            _ path: FilePath, _ relation: FolderPlace.Relation, _ remedy: String, _ status: ExitStatus = .usage
        ) -> CommandFailure {
            CommandFailure(
                status,
                "\(path.text.escapingControls) \(relation.rawValue) the \(kind.rawValue), \(folder.text.escapingControls), "
                    + remedy)
        }
    }

    private static func own(_ settings: Settings?, at location: ConfigLocation) -> [Own] {
        var own = [Own(folder: location.stateFolder, kind: .state)]
        if case .directory(let directory)? = settings?.store {
            own.append(Own(folder: directory.path, kind: .store))
        }
        return own
    }

    /// Where the file is, where a link of its name is, and what it names.
    private static func configuration(_ installation: Installation) -> [Own] {
        let (file, settings) = (installation.location.file, installation.settings)
        let folders = [file, file.resolved ?? file].map {
            Own(folder: $0.removingLastComponent(), kind: .configuration)
        }
        let program = settings.notify.command.first.map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
        let named = [settings.serve.passwordFile, settings.prices, settings.metrics.textfile, program]
        return folders + named.compactMap(\.self).map { Own(folder: $0, kind: .named) }
    }
}

/// Where a folder is, held against others: the one place that tells whether a folder lies in another. Neither a symbolic link
/// nor a bind mount makes it another one. Making one blocks.
struct FolderPlace {
    /// Without symbolic links as far as it is there, and those by which other mounts show it.
    private let names: [FilePath]
    /// `nil` where it is not there.
    private let identity: FolderIdentity?
    /// Of itself and of those above it, as far as they are there.
    private let around: Set<FolderIdentity>

    /// - Parameter path: absolute.
    init(_ path: FilePath) {
        let name = path.resolvedAsFarAsThere ?? path
        names = [name] + MountedNames.others(of: name)
        identity = FolderIdentity(at: name)
        var (folder, around) = (name, Set<FolderIdentity>())
        repeat {
            if let identity = FolderIdentity(at: folder) { around.insert(identity) }
        } while folder.removeLastComponent()
        self.around = around
    }

    /// Whether it is the other one, or lies in it.
    func isIn(_ other: FolderPlace) -> Bool {
        if let identity = other.identity, around.contains(identity) { return true }
        return names.contains { name in other.names.contains { name.starts(with: $0) } }
    }

    /// The nearest folder that is so, of itself and those above it, by each of its names.
    func first(where isSo: (FilePath) -> Bool) -> FilePath? {
        for name in names {
            var folder = name
            repeat {
                if isSo(folder) { return folder }
            } while folder.removeLastComponent()
        }
        return nil
    }

    /// How it is to another one, in the words of a message.
    enum Relation: String {
        case same = "is"
        case inside = "is in"
        case around = "holds"
    }

    /// `nil` where the two are apart.
    func relation(to other: FolderPlace) -> Relation? {
        switch (isIn(other), other.isIn(self)) {
        case (true, true): return .same
        case (true, false): return .inside
        case (false, true): return .around
        case (false, false): return nil
        }
    }
}
