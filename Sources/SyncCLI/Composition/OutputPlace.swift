import SyncConfig
import SyncCore
import SystemPackage

/// Where a person wants files, held against the folders that this program looks into.
struct OutputPlace {
    /// What is to be known before something is saved there; `nil` when there is nothing.
    let note: String?

    /// - Throws: ``CommandFailure`` for the folders of this program: what is in them is its own.
    init(_ path: FilePath, _ installation: Installation) throws {
        let place = FolderPlace(path)
        if let own = Self.own(installation).first(where: { place.isIn($0.place) }) { throw own.isTaken(path) }
        let watched = installation.settings.watch.first { place.isIn(FolderPlace($0.path)) }
        note = watched.map { watched in
            "\(path.text.escapingControls) is in the watched folder \(watched.path.text.escapingControls): what is saved there "
                + "counts as photos of that folder. Copies that are stored already are known by their bytes, and are not "
                + "stored again."
        }
    }

    /// The same of a new store, which may be the one that is there already under another name.
    static func check(newStore path: FilePath, _ installation: Installation) throws {
        let place = FolderPlace(path)
        for own in own(installation) where place.isIn(own.place) && !(own.isStore && place.isSame(as: own.place)) {
            throw own.isTaken(path)
        }
        for watched in installation.settings.watch {
            let folder = FolderPlace(watched.path)
            let isInside = place.isIn(folder)
            guard isInside || folder.isIn(place) else { continue }
            throw CommandFailure(
                .configuration,
                "\(path.text.escapingControls) \(isInside ? "is in" : "holds") the watched folder "
                    + "\(watched.path.text.escapingControls), and what is stored would be stored again; name another folder"
            )
        }
    }

    /// A folder of this program.
    private struct Own {
        let folder: FilePath
        let isStore: Bool

        var place: FolderPlace { FolderPlace(folder) }

        func isTaken(_ path: FilePath) -> CommandFailure {
            CommandFailure(
                .usage,
                "\(path.text.escapingControls) is in the \(isStore ? "store" : "state folder"), \(folder.text.escapingControls), "
                    + "where nothing else may be; name another folder")
        }
    }

    private static func own(_ installation: Installation) -> [Own] {
        var own = [Own(folder: installation.location.stateFolder, isStore: false)]
        if case .directory(let directory) = installation.settings.store {
            own.append(Own(folder: directory.path, isStore: true))
        }
        return own
    }
}

extension Console {
    /// Tells what comes of saving files there.
    /// - Throws: as ``OutputPlace/init(_:_:)``.
    func announce(_ path: FilePath, _ installation: Installation) throws {
        guard let note = try OutputPlace(path, installation).note else { return }
        errors.wrapped(note).forEach(errors.writeLine)
    }
}
