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
        var own = [("the state folder", installation.location.stateFolder)]
        if case .directory(let directory) = installation.settings.store { own.append(("the store", directory.path)) }
        for (what, folder) in own where holds(folder) {
            throw CommandFailure(
                .usage,
                "\(path.text.escapingControls) is in \(what), \(folder.text.escapingControls), where nothing else may be; "
                    + "name another folder")
        }
        note = installation.settings.watch.first { holds($0.path) }.map { watched in
            "\(path.text.escapingControls) is in the watched folder \(watched.path.text.escapingControls): what is saved there "
                + "counts as photos of that folder. Copies that are stored already are known by their bytes, and are not "
                + "stored again."
        }
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
