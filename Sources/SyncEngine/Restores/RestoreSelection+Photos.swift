import SyncCore
import SyncLedger
import SystemPackage

extension RestoreSelection {
    /// What the ledger knows by a path, a wildcard, or the name of a vacation.
    struct Photos {
        var objects: [Object] = []
        var problems: [Problem] = []
        /// Whether something of that name is known, though nothing of it is in the scope.
        var isKnown = false
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
                if isEmpty { try take(matching: place, below: place.removingLastComponent(), ledger) }
            }
            if isEmpty, let pattern = PathPattern(path) {
                for folder in places.candidates(pattern.folder) where isEmpty {
                    try take(matching: path, below: folder, ledger)
                }
            }
            if isEmpty, let vacation = FilePath.Component(bytes: RawText.bytes(of: name)), vacation.kind == .regular {
                for root in places.vacationRoots where isEmpty { try take(below: root.appending(vacation), ledger) }
            }
            // What `share` takes. What looks like a key or a link is none of it.
            if isEmpty, !name.contains("/") {
                do {
                    let vacations = VacationNames(known: try ledger.vacations().filter(\.isKnown), places: places)
                    try take(below: vacations.record(named: name).folder, ledger)
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
            matching path: FilePath, below folder: FilePath, relativeTo parent: FilePath? = nil, _ ledger: Ledger
        ) throws {
            guard let asked = PathPattern(path) else { return }
            var rest = path
            guard rest.removePrefix(asked.folder), let pattern = PathPattern(folder.pushing(rest)) else { return }
            try ledger.photos(at: folder) { photo in
                if photo.state != .skipped, pattern.matches(photo.path),
                    try note(photo, relativeTo: parent ?? folder, ledger)
                {
                    try noteCompanions(of: photo, relativeTo: parent ?? folder, ledger)
                }
            }
        }

        /// What belongs to a photo comes with it, as far as it is stored. Named as well, it is met twice and taken once.
        private mutating func noteCompanions(
            of photo: PhotoStatus, relativeTo folder: FilePath, _ ledger: Ledger
        ) throws {
            for companion in try ledger.companions(of: photo) {
                guard let copy = companion.object else { continue }
                let original = try ledger.original(of: copy.key)
                let whole = copy.problem == nil ? copy : nil
                guard let record = scope.wantsOriginals ? original ?? whole : whole ?? original else { continue }
                let destination = Self.destination(of: companion, below: folder)
                objects.append(Object(record: record, path: companion.path, destination: destination))
            }
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
            if scope.wantsOriginals, photo.object != nil, try noteOriginal(of: photo, at: destination, ledger) {
                return
            }
            if photo.isOfEvents, try noteEvents(of: photo, at: destination, ledger) { return }
            guard let record = try photo.object.map({ try $0.problem == nil ? $0 : ledger.original(of: $0.key) ?? $0 })
            else {
                let why = photo.why ?? photo.state.rawValue
                problems.append(
                    Problem(name: photo.path.text, reason: photo.md5 == nil ? .noMD5(why) : .notStored(why)))
                return
            }
            if !photo.isOfEvents { objects.append(Object(record: record, path: photo.path, destination: destination)) }
        }

        /// - Returns: `false` when its copy is to be taken: of a whole library, all that there is comes back.
        private mutating func noteOriginal(
            of photo: PhotoStatus, at destination: FilePath, _ ledger: Ledger
        ) throws -> Bool {
            guard let copy = photo.object else { return false }
            let original = try ledger.original(of: copy.key)
            let isCopyOriginal =
                copy.isFile || photo.state == .uploaded && copy.sha256 != nil && copy.sha256 == photo.sha256
            if !photo.isOfEvents, let record = original ?? (isCopyOriginal ? copy : nil) {
                objects.append(Object(record: record, path: photo.path, destination: destination))
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
                objects.append(Object(record: record, path: photo.path, destination: place))
            }
            return !photos.isEmpty && events.allSatisfy { $0.photoState == .stored || $0.photoState == .none }
        }
    }
}
