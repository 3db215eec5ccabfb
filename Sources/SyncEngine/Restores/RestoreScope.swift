import FoundationEssentials
package import SyncCore
import SyncLedger
import SyncSystem
package import SystemPackage

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
    /// The photos of which earlier versions are meant, by the keys of these: another photo may have the same content.
    package var versions: [ObjectKey: [FilePath]] = [:]

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
    package var isLibrary: Bool { isAll || machine != nil }

    var isAnyDay: Bool { from == nil && to == nil }

    func includes(_ photo: PhotoStatus) -> Bool {
        let day = photo.takenAt?.day ?? MachineZone.current.day(of: photo.modified)
        return from.map { $0 <= day } ?? true && to.map { day <= $0 } ?? true
    }
}

/// No machine of this name is known here, or several are.
package struct UnknownRestoreMachine: Error, Hashable, Sendable, CustomStringConvertible {
    package var name: String
    package var known: [String]
    /// What those are called here that have the name, where several have it.
    package var namesakes: [String] = []

    package var description: String {
        func list(_ names: [String]) -> String { names.map(\.escapingControls).joined(separator: ", ") }
        if namesakes.isEmpty {
            return "no machine called \(name.escapingControls) is known; there are \(list(known))"
        }
        return "several machines are called \(name.escapingControls): name one of \(list(namesakes)), which "
            + "end with their ids (sync-agent status --machines --json tells when each has last stored)"
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
        let chosen = try Self.choose(folders, scope, own: ledger.catalogStatus().machine)
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
            for root in roots { try take(below: root.folder, in: root, &found) }
        }
        var missing: [String] = []
        for name in names {
            let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
            var part = RestoreSelection.Photos(scope)
            for root in roots {
                let candidates = root.above.map { [FilePath(bytes: $0.bytes + path.bytes)] } ?? places.candidates(path)
                for candidate in candidates where part.isEmpty || root.above == nil {
                    if let pattern = try places.pattern(candidate, above: root.above, ledger) {
                        try take(matching: pattern, in: root, &part)
                    } else {
                        try take(below: candidate, in: root, &part)
                    }
                }
            }
            if part.isEmpty { missing.append(name) }
            found.append(part)
        }
        return (found, missing)
    }

    private func take(
        matching pattern: PathPattern, in root: Root, _ photos: inout RestoreSelection.Photos
    ) throws {
        guard pattern.folder.starts(with: root.folder) || root.folder.starts(with: pattern.folder) else { return }
        var part = RestoreSelection.Photos(scope)
        try part.take(matching: pattern, relativeTo: root.folder, ledger)
        photos.append(part.only(below: root.folder, as: root.label))
    }

    private func take(below path: FilePath, in root: Root, _ photos: inout RestoreSelection.Photos) throws {
        guard path.starts(with: root.folder) || root.folder.starts(with: path) else { return }
        var part = RestoreSelection.Photos(scope)
        try part.take(below: path.starts(with: root.folder) ? path : root.folder, relativeTo: root.folder, ledger)
        // Of other folders above which the path or the pattern is, each has its own turn.
        photos.append(part.only(below: root.folder, as: root.label))
    }

    private static func choose(
        _ folders: [(path: FilePath, owner: FolderOwner)], _ scope: RestoreScope, own: String
    ) throws -> [(path: FilePath, owner: FolderOwner)] {
        guard let name = scope.machine else { return folders }
        let isThis = name == own || name == scope.ownName
        // Others of this one's name are mostly itself, before it lost its ledger: all are meant. The folders of several
        // have their ids, too.
        let chosen = folders.filter { folder in
            let called = machineFolder(folder.path, folder.owner)?.lastComponent?.text
            return switch folder.owner {
            case .thisMachine: isThis
            case .machine(let id):
                id == name || called == name || isThis && called == "\(LedgerRebuild.fileName(name))-\(id)"
            case .recovered: false
            }
        }
        guard isThis || !chosen.isEmpty else {
            let others = folders.compactMap { machineFolder($0.path, $0.owner)?.lastComponent?.text }
            let namesakes = folders.compactMap { folder -> String? in
                guard case .machine(let id) = folder.owner else { return nil }
                let called = machineFolder(folder.path, folder.owner)?.lastComponent?.text
                return called == "\(LedgerRebuild.fileName(name))-\(id)" ? called : nil
            }
            throw UnknownRestoreMachine(
                name: name, known: ["\(scope.ownName ?? own) (this one)"] + Set(others).sorted(),
                namesakes: Set(namesakes).sorted())
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

extension RestoreSelection {
    /// What the ledger knows by a path, a wildcard, or the name of a vacation.
    struct Photos {
        var objects: [Object] = []
        var problems: [Problem] = []
        /// Whether something of that name is known, though nothing of it is in the scope.
        var isKnown = false
        /// Photos of which it was told already that there is nothing to restore.
        private var told: Set<Int64> = []
        private let scope: RestoreScope

        var isEmpty: Bool { objects.isEmpty && problems.isEmpty && !isKnown }

        init(_ scope: RestoreScope) {
            self.scope = scope
        }

        init(named name: String, at path: FilePath, in places: Places, _ scope: RestoreScope, ledger: Ledger) throws {
            self.scope = scope
            for candidate in places.candidates(path) where isEmpty {
                try take(below: candidate, ledger)
            }
            if isEmpty, let place = LedgerRebuild.place(named: name) {
                try take(below: place, ledger)
                if isEmpty, let pattern = try places.pattern(place, ledger) { try take(matching: pattern, ledger) }
            }
            if isEmpty, let pattern = try places.pattern(path, ledger) {
                for folder in places.candidates(pattern.folder) where isEmpty {
                    try take(matching: pattern.below(folder), ledger)
                }
            }
            if isEmpty, let vacation = FilePath.Component(bytes: RawText.bytes(of: name)), vacation.kind == .regular {
                for root in places.vacationRoots where isEmpty { try take(below: root.appending(vacation), ledger) }
            }
            // What `share` takes. What looks like a key or a link is none of it.
            if isEmpty, !name.contains("/") {
                do {
                    let vacations = VacationNames(known: try ledger.vacations().filter(\.isKnown), places: places)
                    try take(below: vacations.record(beginningWith: name).folder, ledger)
                } catch VacationLookupError.ambiguous(_, let folders) {
                    problems.append(Problem(name: name, reason: .ambiguous(folders)))
                } catch is VacationLookupError {
                    // It may be the id of a share.
                }
            }
        }

        mutating func take(below path: FilePath, relativeTo parent: FilePath? = nil, _ ledger: Ledger) throws {
            let parent = parent ?? path.removingLastComponent()
            try ledger.photos(at: path) { photo in
                // What lies between the photos of an album was never to be stored; named by itself, that is told.
                guard photo.state != .skipped || photo.path == path else { return }
                let isTaken = try note(photo, relativeTo: parent, ledger)
                // Of a folder, all of them come by themselves.
                if isTaken, photo.path == path { try noteCompanions(of: photo, relativeTo: parent, ledger) }
            }
        }

        mutating func take(
            matching pattern: PathPattern, relativeTo parent: FilePath? = nil, _ ledger: Ledger
        ) throws {
            let parent = parent ?? pattern.folder
            try ledger.photos(at: pattern.folder) { photo in
                if photo.state != .skipped, pattern.matches(photo.path),
                    try note(photo, relativeTo: parent, ledger)
                {
                    try noteCompanions(of: photo, relativeTo: parent, ledger)
                }
            }
        }

        /// What belongs to a photo comes with it, as far as it is stored; that nothing is left of it is told. Named as
        /// well, it is met twice and taken once.
        private mutating func noteCompanions(
            of photo: PhotoStatus, relativeTo folder: FilePath, _ ledger: Ledger
        ) throws {
            for companion in try ledger.companions(of: photo) {
                let destination = Self.destination(of: companion, below: folder)
                guard let copy = companion.restorable ?? companion.brokenCopy else {
                    // What waits to be stored is on the disk.
                    if companion.state == .lost { try note(companion, at: destination, ledger) }
                    continue
                }
                let original = try ledger.original(of: copy.key)
                let whole = copy.problem == nil ? copy : nil
                guard let record = scope.wantsOriginals ? original ?? whole : whole ?? original else { continue }
                add(record, of: companion, at: destination)
            }
        }

        private mutating func add(_ record: ObjectRecord, of photo: PhotoStatus, at destination: FilePath) {
            var object = Object(record: record, path: photo.path, destination: destination)
            // No listing tells the digest of what was sent in parts: a film is not called a copy for that.
            let mayBeCopy = record.storedMD5 != nil || record.contentType == MediaType.jpeg.name
            object.isCopyOnly = scope.wantsOriginals && mayBeCopy && !Self.isFile(record, of: photo)
            objects.append(object)
        }

        /// Whether what is stored gives the photo's own bytes.
        private static func isFile(_ record: ObjectRecord, of photo: PhotoStatus) -> Bool {
            record.key.copyOfOriginal != nil || record.isFile
                || photo.state == .uploaded && record.sha256 != nil && record.sha256 == photo.sha256
        }

        private static func destination(of photo: PhotoStatus, below folder: FilePath) -> FilePath {
            var destination = photo.path
            if destination.removePrefix(folder) { return destination }
            return FilePath(root: nil, photo.path.lastComponent.map { [$0] } ?? [])
        }

        /// - Returns: whether there is something of it to be had.
        private mutating func note(_ photo: PhotoStatus, relativeTo folder: FilePath, _ ledger: Ledger) throws -> Bool {
            isKnown = true
            // What belongs to a photo is of the day of the photo.
            guard try scope.isAnyDay || scope.includes(ledger.unit(of: photo)?.photo ?? photo) else { return false }
            let destination = Self.destination(of: photo, below: folder)
            let count = objects.count
            try note(photo, at: destination, ledger)
            return objects.count > count
        }

        private mutating func note(_ photo: PhotoStatus, at destination: FilePath, _ ledger: Ledger) throws {
            if scope.wantsOriginals, photo.restorable != nil, try noteOriginal(of: photo, at: destination, ledger) {
                return
            }
            if photo.isOfEvents, try noteEvents(of: photo, at: destination, ledger) { return }
            // What waits to be stored again, from a file that may be away, is there as its original.
            let known = try photo.restorable ?? photo.brokenCopy.flatMap { try ledger.original(of: $0.key) }
            guard let record = try known.map({ try $0.problem == nil ? $0 : ledger.original(of: $0.key) ?? $0 }) else {
                guard told.insert(photo.id).inserted else { return }
                let hasVersions = try !photo.isOfEvents && !ledger.versions(of: photo).isEmpty
                let reason = Problem.Reason(of: photo, hasVersions: hasVersions)
                problems.append(Problem(name: photo.path.text, reason: reason))
                return
            }
            if !photo.isOfEvents { add(record, of: photo, at: destination) }
        }

        /// - Returns: `false` when its copy is to be taken: of a whole library, all that there is comes back.
        private mutating func noteOriginal(
            of photo: PhotoStatus, at destination: FilePath, _ ledger: Ledger
        ) throws -> Bool {
            guard let copy = photo.restorable else { return false }
            let original = try ledger.original(of: copy.key)
            if !photo.isOfEvents, let record = original ?? (Self.isFile(copy, of: photo) ? copy : nil) {
                add(record, of: photo, at: destination)
                return true
            }
            if scope.isLibrary { return false }
            problems.append(Problem(name: photo.path.text, reason: .noOriginal))
            return true
        }

        /// A file of gallery events stands for the photos of its events: `june.json` for `june.jpg`, or, where it has
        /// several, `june-1.jpg` and so on. Its text was never stored.
        /// - Returns: whether it has photos, and all of them are stored.
        private mutating func noteEvents(
            of photo: PhotoStatus, at destination: FilePath, _ ledger: Ledger
        ) throws -> Bool {
            let events = try ledger.events(of: photo.id)
            let records = events.compactMap(\.object) + [photo.object].compactMap(\.self)
            var keys: Set<ObjectKey> = []
            let photos = records.filter { keys.insert($0.key).inserted }
            for (index, record) in photos.enumerated() {
                let place = EventPhotoName.path(
                    in: destination, index: index, of: photos.count, contentType: record.contentType)
                add(record, of: photo, at: place)
            }
            return !photos.isEmpty && events.allSatisfy { $0.photoState == .stored || $0.photoState == .none }
        }
    }
}
