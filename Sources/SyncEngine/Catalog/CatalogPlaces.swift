import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
package import SystemPackage

/// A photo of which no catalogue tells. Its name is made of its day and its id; files of projects have theirs in their
/// keys, with the folders in which there may be one of each name.
enum RecoveredPhoto {
    /// - Parameter info: `nil` where the store does not have it any more.
    static func photo(_ object: ObjectRecord, _ info: ObjectInfo?, of keys: KeyLayout) -> CatalogPhoto {
        let takenAt = info?.takenAt ?? object.takenAt
        let day = takenAt.map { "\($0.day)_" } ?? ""
        let contentType = info?.contentType ?? object.contentType
        let ending = MediaType.ending(ofContentType: contentType)
        let name =
            object.key.name(below: keys.projects).map { String($0) }
            ?? "\(day)\(object.key.lastSegment.prefix { $0 != "." }).\(ending)"
        let modified = takenAt.map { $0.instant ?? $0.instant(offset: 0) } ?? object.storedAt
        return CatalogPhoto(
            place: CatalogPlace(folder: 0, path: FilePath(name)),
            file: CatalogPhoto.File(size: object.size, modified: modified),
            md5: object.md5 ?? info?.photoMD5, key: object.key, sha256: info?.toldSHA256, size: object.size,
            contentType: contentType, takenAt: takenAt, width: info?.width, height: info?.height,
            duration: info?.duration)
    }
}

/// Where the watched folders of a machine are in the ledger: its own where they are configured here, too; else under their
/// paths; and those of another machine below a folder of its name.
struct FolderPlaces: Sendable {
    let machine: LedgerRebuild.Machine
    let configured: [FolderRecord]
    let ledger: Ledger
    private let taken = TakenFolders()

    func places(of folders: [CatalogFolder]) throws -> [Int64: FolderID] {
        var places: [Int64: FolderID] = [:]
        let known = folders.compactMap { folder in
            WatchedFolder.Kind(rawValue: folder.kind).map { (folder.folder, $0, folder.path.path) }
        }
        if let parent = machine.place {
            // As galleries: vacations of others are none of this machine's.
            for (number, _, path) in known {
                let place = FilePath(bytes: parent.bytes + path.bytes)
                places[number] = try ledger.folderForCatalog(.gallery, at: place, of: .machine(machine.id))
            }
            return places
        }
        var chosen = Self.matches(known.map { ($0.1, $0.2) }, configured, chosen: taken.places.withLock { $0 })
        for (number, kind, path) in known {
            let id = try chosen[path] ?? ledger.folderForCatalog(kind, at: path, of: .thisMachine)
            chosen[path] = id
            places[number] = id
        }
        taken.places.withLock { $0 = chosen }
        return places
    }

    /// Where folders of that machine are here, as far as that is another path.
    var moves: [FilePath: FilePath] { Self.moves(taken.places.withLock { $0 }, configured) }

    /// The same for a machine of which nothing else is taken up.
    static func moves(of folders: [CatalogFolder], to configured: [FolderRecord]) -> [FilePath: FilePath] {
        let known = folders.compactMap { folder in
            WatchedFolder.Kind(rawValue: folder.kind).map { ($0, folder.path.path) }
        }
        return moves(matches(known, configured, chosen: [:]), configured)
    }

    private static func moves(_ chosen: [FilePath: FolderID], _ configured: [FolderRecord]) -> [FilePath: FilePath] {
        chosen.reduce(into: [:]) { moves, choice in
            guard let place = configured.first(where: { $0.id == choice.value })?.path, place != choice.key else {
                return
            }
            moves[choice.key] = place
        }
    }

    /// By path where it is the same, else by name, else the only one of that kind.
    private static func matches(
        _ known: [(kind: WatchedFolder.Kind, path: FilePath)], _ configured: [FolderRecord],
        chosen: [FilePath: FolderID]
    ) -> [FilePath: FolderID] {
        let rules: [(FolderRecord, WatchedFolder.Kind, FilePath) -> Bool] = [
            { $0.path == $2 && $0.kind == $1 },
            { $0.path.lastComponent == $2.lastComponent && $0.kind == $1 },
            { folder, kind, _ in folder.kind == kind && configured.count { $0.kind == kind } == 1 },
        ]
        var chosen = chosen
        for rule in rules {
            for (kind, path) in known where chosen[path] == nil {
                let match = configured.first { folder in
                    !chosen.values.contains(folder.id) && rule(folder, kind, path)
                }
                if let match { chosen[path] = match.id }
            }
        }
        return chosen
    }
}

private final class TakenFolders: Sendable {
    let places = Lock<[FilePath: FolderID]>([:])
}

/// Where the ledger has photos that are of no watched folder here.
extension LedgerRebuild {
    package static let recoveredFolder: FilePath = "/recovered"
    package static let machinesFolder: FilePath = "/machines"

    /// Where the ledger has what `rebuild` tells as `recovered/…` and `machines/…`; `nil` for other names.
    /// - Parameter name: as ``RawText``.
    package static func place(named name: String) -> FilePath? {
        let path = FilePath(argument: "/" + name).lexicallyNormalized()
        guard !name.hasPrefix("/"), path.starts(with: recoveredFolder) || path.starts(with: machinesFolder) else {
            return nil
        }
        return path
    }

    /// The name of the folder of a machine.
    static func fileName(_ name: String) -> String {
        let text = name.escapingControls.replacing("/", with: "_")
        return text.isEmpty || text == "." || text == ".." ? "machine" : text
    }
}
