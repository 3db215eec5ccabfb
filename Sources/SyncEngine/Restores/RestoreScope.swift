import FoundationEssentials
package import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Which photos a restore is about, beside the names that it is given.
package struct RestoreScope: Hashable, Sendable {
    /// All that is known.
    package var isAll: Bool
    /// What is known of one machine, by its name or id.
    package var machine: String?
    /// This machine's name, by which it may be meant.
    package var ownName: String?
    /// Days of capture, at the place; of photos without one, of their files.
    package var from: CalendarDay?
    package var to: CalendarDay?
    /// Whether the photos' own bytes are wanted, and not their copies.
    package var wantsOriginals: Bool

    package init(
        isAll: Bool = false, machine: String? = nil, ownName: String? = nil, from: CalendarDay? = nil,
        to: CalendarDay? = nil, wantsOriginals: Bool = false
    ) {
        self.wantsOriginals = wantsOriginals
        self.isAll = isAll
        self.machine = machine
        self.ownName = ownName
        self.from = from
        self.to = to
    }

    /// Whether the folders of machines are meant, with all names that photos have in them.
    var isLibrary: Bool { isAll || machine != nil }

    var isAnyDay: Bool { from == nil && to == nil }

    func includes(_ photo: PhotoStatus) -> Bool {
        let day = photo.takenAt?.day ?? MachineZone.current.day(of: photo.modified)
        return from.map { $0 <= day } ?? true && to.map { day <= $0 } ?? true
    }
}

/// No machine of this name is known here.
package struct UnknownRestoreMachine: Error, Hashable, Sendable, CustomStringConvertible {
    package var name: String
    package var known: [String]

    package var description: String {
        "no machine called \(name.escapingControls) is known; there are "
            + known.map(\.escapingControls).joined(separator: ", ")
    }
}

/// The folders of machines, with what each is called below a folder of downloads.
struct RestoreLibrary {
    private struct Root {
        var folder: FilePath
        /// Where the machine's own paths begin, for names that are given as they were there.
        var above: FilePath?
        var label: FilePath
    }

    private let roots: [Root]
    private let scope: RestoreScope
    private let ledger: Ledger

    /// - Throws: ``UnknownRestoreMachine``, ``LedgerError``.
    init(_ scope: RestoreScope, ledger: Ledger) throws {
        self.scope = scope
        self.ledger = ledger
        let folders = try ledger.ownedFolders()
        let chosen = try Self.choose(folders, scope, own: ledger.catalogStanding().machine)
        var taken: Set<FilePath> = []
        roots = chosen.map { folder, owner in
            var label = folder.lastComponent.map { FilePath(root: nil, [$0]) } ?? "photos"
            var above = folder.removingLastComponent().components
            let machine = Self.machineFolder(folder, owner)
            if let machine {
                var parts = machine
                parts.root = nil
                label = parts.pushing(label)
            } else if owner == .recovered {
                label = "recovered"
            }
            // Folders of one name are told apart by those above them.
            while taken.contains(label), let last = above.popLast() {
                label = label.removingLastComponent().appending(last).appending(label.lastComponent ?? last)
            }
            taken.insert(label)
            return Root(folder: folder, above: machine, label: label)
        }
    }

    /// - Parameter names: as paths were on that machine; none for all.
    /// - Returns: and the names of which nothing is known.
    func photos(
        named names: [String], in places: RestoreSelection.Places
    ) throws -> (found: RestoreSelection.Photos, missing: [String]) {
        var found = RestoreSelection.Photos(scope)
        if names.isEmpty {
            for root in roots { try take(root.folder, in: root, &found) }
        }
        var missing: [String] = []
        for name in names {
            let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
            var part = RestoreSelection.Photos(scope)
            for root in roots {
                let candidates = root.above.map { [FilePath(bytes: $0.bytes + path.bytes)] } ?? places.candidates(path)
                for candidate in candidates where part.isEmpty || root.above == nil {
                    try take(candidate, in: root, &part)
                }
            }
            if part.isEmpty { missing.append(name) }
            found.append(part)
        }
        return (found, missing)
    }

    private func take(_ path: FilePath, in root: Root, _ photos: inout RestoreSelection.Photos) throws {
        var part = RestoreSelection.Photos(scope)
        if let pattern = PathPattern(path),
            pattern.folder.starts(with: root.folder) || root.folder.starts(with: pattern.folder)
        {
            try part.take(matching: path, below: pattern.folder, relativeTo: root.folder, ledger)
        } else if path.starts(with: root.folder) || root.folder.starts(with: path) {
            try part.take(below: path.starts(with: root.folder) ? path : root.folder, relativeTo: root.folder, ledger)
        }
        // Of other folders above which the path or the pattern is, each has its own turn.
        photos.append(part.only(below: root.folder, as: root.label))
    }

    private static func choose(
        _ folders: [(path: FilePath, owner: FolderOwner)], _ scope: RestoreScope, own: String
    ) throws -> [(path: FilePath, owner: FolderOwner)] {
        guard let name = scope.machine else { return folders }
        if name == own || name == scope.ownName { return folders.filter { $0.owner == .thisMachine } }
        let chosen = folders.filter { folder in
            guard case .machine(let id) = folder.owner else { return false }
            return id == name || machineFolder(folder.path, folder.owner)?.lastComponent?.text == name
        }
        guard !chosen.isEmpty else {
            let others = folders.compactMap { machineFolder($0.path, $0.owner)?.lastComponent?.text }
            throw UnknownRestoreMachine(
                name: name, known: ["\(scope.ownName ?? own) (this one)"] + Set(others).sorted())
        }
        return chosen
    }

    /// `/machines/laptop`, of a folder of another machine.
    private static func machineFolder(_ folder: FilePath, _ owner: FolderOwner) -> FilePath? {
        guard case .machine = owner else { return nil }
        return FilePath(root: "/", folder.components.prefix(2))
    }
}

extension RestoreSelection.Photos {
    mutating func append(_ other: RestoreSelection.Photos) {
        objects += other.objects
        problems += other.problems
        isKnown = isKnown || other.isKnown
    }

    /// Those of one folder, below its label.
    fileprivate func only(below folder: FilePath, as label: FilePath) -> RestoreSelection.Photos {
        var photos = self
        photos.objects = objects.filter { $0.path?.starts(with: folder) ?? false }.map { object in
            var object = object
            object.destination = label.pushing(object.destination)
            return object
        }
        return photos
    }
}
