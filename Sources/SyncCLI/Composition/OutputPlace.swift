import SyncConfig
import SyncCore
import SyncSystem
import SystemPackage

/// Where a person wants files, held against the folders that this program looks into.
struct OutputPlace {
    /// What is to be known before something is saved there; `nil` when there is nothing.
    let note: String?

    /// - Throws: ``CommandFailure`` for the folders of this program: what is in them is its own.
    init(_ path: FilePath, _ installation: Installation) throws {
        let place = path.resolvedAsFarAsThere ?? path
        func holds(_ folder: FilePath) -> Bool { place.starts(with: folder.resolvedAsFarAsThere ?? folder) }
        for (what, folder) in Self.own(installation) where holds(folder) { throw Self.taken(path, what, folder) }
        note = installation.settings.watch.first { holds($0.path) }.map { watched in
            "\(path.text.escapingControls) is in the watched folder \(watched.path.text.escapingControls): what is saved there "
                + "counts as photos of that folder. Copies that are stored already are known by their bytes, and are not "
                + "stored again."
        }
    }

    /// The same of a new store, which may be the one that is there already under another name.
    static func check(newStore path: FilePath, _ installation: Installation) throws {
        let place = path.resolvedAsFarAsThere ?? path
        for (what, folder) in own(installation) {
            let folder = folder.resolvedAsFarAsThere ?? folder
            if place.starts(with: folder), place != folder { throw taken(path, what, folder) }
        }
    }

    private static func own(_ installation: Installation) -> [(what: String, folder: FilePath)] {
        var own = [("the state folder", installation.location.stateFolder)]
        if case .directory(let directory) = installation.settings.store { own.append(("the store", directory.path)) }
        return own
    }

    private static func taken(_ path: FilePath, _ what: String, _ folder: FilePath) -> CommandFailure {
        CommandFailure(
            .usage,
            "\(path.text.escapingControls) is in \(what), \(folder.text.escapingControls), where nothing else may be; name "
                + "another folder")
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
