import FoundationEssentials
import Glibc
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Turns what a person names into objects: files and folders, wildcards, vacations, shares and object keys; also of
/// photos that are no longer on the disk.
package struct RestoreSelection: Sendable {
    /// One object that was named.
    package struct Object: Hashable, Sendable {
        package var record: ObjectRecord
        /// The photo on this machine, absolute; `nil` when an object was named by its key.
        package var path: FilePath?
        /// Where it goes below a folder of downloads: its name, below the name of the folder that was named.
        package var destination: FilePath
        /// Under its other names, where all of them are wanted.
        package var further: [RestorePlace] = []
        /// Whether its own bytes were asked for, and this is a copy that has others.
        package var isCopyOnly = false
    }

    /// A name, or a photo below it, of which nothing can be restored.
    package struct Problem: Hashable, Sendable {
        package enum Reason: Hashable, Sendable {
            /// Nothing is known by this name.
            case unknown
            /// The photo is not stored yet; why, in plain words.
            case notStored(String)
            /// The photo was never read whole, so that it has no MD5, and no object is known to be its copy.
            case noMD5(String)
            /// The file has changed since it was stored, and is not stored as it is now; why, in plain words. What was
            /// stored is an earlier version.
            case changed(String)
            /// Nothing is left of it as it was stored last; why, in plain words.
            case lost(String, hasVersions: Bool)
            /// More than one vacation has this name: their folders.
            case ambiguous([FilePath])
            /// Something is stored by this name, and the store cannot tell what.
            case unreadable(String)
            /// Its own bytes were asked for, and only a copy of it is stored.
            case noOriginal

            /// Of a photo of which nothing is stored as it is now.
            init(of photo: PhotoStatus, hasVersions: Bool) {
                let why = photo.why ?? photo.state.rawValue
                if photo.state == .lost {
                    self = .lost(why, hasVersions: hasVersions)
                } else if hasVersions {
                    self = .changed(why)
                } else {
                    self = photo.md5 == nil ? .noMD5(why) : .notStored(why)
                }
            }
        }

        package var name: String
        package var reason: Reason
    }

    package private(set) var objects: [Object] = []
    package private(set) var problems: [Problem] = []
    private var chosen: [ObjectKey: Int] = [:]
    private var places = FreeNames<FilePath>()

    /// Where names are looked up.
    package struct Places: Sendable {
        package var workingFolder: FilePath
        /// Folders whose subfolders are vacations.
        package var vacationRoots: [FilePath]
        /// What the ledger may call a path: a watched folder may lie behind a link.
        package var candidates: @Sendable (FilePath) -> [FilePath]

        package init(
            workingFolder: FilePath, vacationRoots: [FilePath],
            candidates: @escaping @Sendable (FilePath) -> [FilePath]
        ) {
            self.workingFolder = workingFolder
            self.vacationRoots = vacationRoots
            self.candidates = candidates
        }

        /// A path with wildcards. What is there by its name, or is or was known by it, has none, nor has the working
        /// folder, which nobody wrote: who names `x[1].jpg`, or is in `Rome [1]`, does not mean `x1.jpg` and `Rome 1`.
        /// - Parameters:
        ///   - path: absolute.
        ///   - above: where the paths of another machine begin.
        /// - Returns: `nil` when there is no wildcard in it.
        /// - Throws: ``LedgerError``.
        package func pattern(_ path: FilePath, above: FilePath? = nil, _ ledger: Ledger) throws -> PathPattern? {
            try PathPattern(path) { name in
                let own = above.map { FilePath(root: "/", name.relative(to: $0).components) } ?? name
                if workingFolder.starts(with: own) { return true }
                if above == nil, (try? FileStatus.find(own)) != nil { return true }
                return try ([name] + candidates(name)).contains { try ledger.hasName($0) }
            }
        }
    }

    package static let shareScheme = "vacationphotos://share/"

    /// - Parameters:
    ///   - names: in the order in which they are tried: path, wildcard, vacation, share, object key.
    ///   - store: asked for keys that the ledger does not know, and for shares.
    ///   - scope: of which of them.
    /// - Throws: ``UnknownRestoreMachine``, ``LedgerError``, ``StoreError``, `CancellationError`. What is unknown is a problem,
    ///   not an error.
    package init(
        of names: [String], scope: RestoreScope = RestoreScope(), in places: Places, ledger: LedgerQueue,
        store: any ReadableStore
    ) async throws {
        if scope.isLibrary {
            let (found, missing) = try await ledger {
                try RestoreLibrary(scope, ledger: $0).photos(named: names, in: places)
            }
            problems += missing.map { Problem(name: RawText.shown($0), reason: .unknown) } + found.problems
            found.objects.forEach { add($0) }
            return
        }
        for name in names {
            // An empty name would be the working folder, and is a variable that was not set.
            if name.isEmpty {
                problems.append(Problem(name: RawText.shown(name), reason: .unknown))
                continue
            }
            let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
            let found = try await ledger { try Photos(named: name, at: path, in: places, scope, ledger: $0) }
            if !found.isEmpty {
                problems += found.problems
                found.objects.forEach { add($0) }
                continue
            }
            let (records, unreadable) = try await Self.records(named: name, ledger: ledger, store: store)
            problems += unreadable.map { Problem(name: $0.key.rawValue, reason: .unreadable($0.reason)) }
            if records.isEmpty, unreadable.isEmpty {
                problems.append(Problem(name: RawText.shown(name), reason: .unknown))
            }
            for record in records {
                // A key is a digest; people know the photo by its name.
                var photos = scope.versions[record.key] ?? []
                if photos.isEmpty { photos = try await ledger { try $0.photoPaths(of: record.key, limit: 1) } }
                if chosen[record.key] != nil { continue }
                // What a share holds is saved in a folder of its own, as albums are.
                let above = FilePath(record.key.rawValue).removingLastComponent().components.dropFirst()
                let folder = name.hasPrefix(Self.shareScheme) ? above.map(\.self) : []
                let named: [FilePath?] = photos.isEmpty ? [nil] : photos
                for photo in named {
                    let file = photo?.lastComponent ?? FilePath.Component(String(record.key.lastSegment)) ?? "object"
                    add(Object(record: record, path: photo, destination: FilePath(root: nil, folder + [file])))
                }
            }
        }
    }

    /// An object that is named twice is asked for once, and saved under each of the photo's names that are wanted. Each gets a
    /// place of its own: where two have one name, the folders above it tell them apart.
    private mutating func add(_ object: Object) {
        var object = object
        if let index = chosen[object.record.key] {
            // That a copy is the file may be known by one of its names alone.
            if !object.isCopyOnly { objects[index].isCopyOnly = false }
            guard let path = object.path, objects[index].path != path,
                !objects[index].further.contains(where: { $0.path == path })
            else { return }
            let place = freePlace(for: object)
            objects[index].further.append(RestorePlace(path: path, destination: place))
            return
        }
        chosen[object.record.key] = objects.count
        object.destination = freePlace(for: object)
        objects.append(object)
    }

    /// What is stored under another key by now than when it was chosen comes from there, to the same places.
    mutating func follow(_ moved: [ObjectKey: ObjectRecord]) {
        let before = objects
        (objects, chosen) = ([], [:])
        for var object in before {
            object.record = moved[object.record.key] ?? object.record
            guard let index = chosen[object.record.key] else {
                chosen[object.record.key] = objects.count
                objects.append(object)
                continue
            }
            if !object.isCopyOnly { objects[index].isCopyOnly = false }
            let place = object.path.map { RestorePlace(path: $0, destination: object.destination) }
            objects[index].further += [place].compactMap(\.self) + object.further
        }
    }

    private mutating func freePlace(for object: Object) -> FilePath {
        var above = (object.path ?? FilePath(object.record.key.rawValue)).components.dropLast()
        above = above.dropLast(object.destination.components.count - 1)
        var place = object.destination
        while places.contains(place), let folder = above.popLast() {
            place = FilePath(root: nil, [folder]).pushing(place)
        }
        if places.contains(place) { place = object.destination }
        return places.take(place) { object.destination.numbered($0) }
    }

    // MARK: Keys

    private static func records(
        named name: String, ledger: LedgerQueue, store: any ReadableStore
    ) async throws -> ([ObjectRecord], [ObjectProblem]) {
        if name.hasPrefix(shareScheme) {
            let id = String(name.dropFirst(shareScheme.count))
            guard let folder = try? ObjectKey(segments: ["shares", id]) else { return ([], []) }
            return try await records(under: folder.rawValue + "/", store: store)
        }
        guard let key = try? ObjectKey(name) else { return ([], []) }
        if !name.contains("/") {
            // Share ids are long and random: a mistyped name of a photo costs no request.
            return name.utf8.count >= 22 && !name.contains(".")
                ? try await records(under: "shares/\(key)/", store: store) : ([], [])
        }
        if let known = try await ledger({ try $0.object(key) }) { return ([known], []) }
        return (try await store.head(key).map { [ObjectRecord($0)] } ?? [], [])
    }

    private static func records(
        under prefix: String, store: any ReadableStore
    ) async throws -> ([ObjectRecord], [ObjectProblem]) {
        let found = try await store.all(below: prefix)
        return (found.objects.map { ObjectRecord($0) }, found.problems)
    }
}

extension FilePath {
    /// `1.jpg` as `1 (2).jpg`; where that is longer than a name may be, what is in front of the number is cut.
    package func numbered(_ number: Int) -> FilePath {
        guard let bytes = lastComponent?.bytes else { return self }
        // As FilePath has it: a dot at the beginning begins no ending.
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.endIndex
        let tail = Array(" (\(number))".utf8) + bytes[dot...]
        let stem = Array(bytes[..<dot]).prefix(fitting: Self.longestName - tail.count)
        guard let name = FilePath.Component(bytes: stem + tail) else { return self }
        return removingLastComponent().appending(name)
    }

    /// Bytes of a name (NAME_MAX).
    private static let longestName = 255
}

extension [UInt8] {
    /// At most so many of the first bytes, without a part of a character in UTF-8 at their end.
    fileprivate func prefix(fitting length: Int) -> [UInt8] {
        if count <= length { return self }
        var end = Swift.max(length, 0)
        while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(self[..<end])
    }
}

/// A path with wildcards, as a shell writes it: `~/Pictures/Vacations/Paris*/IMG_00?.jpg`.
///
/// The shell expands only what is on the disk. What is known of photos that are no longer there is matched by this.
package struct PathPattern: Hashable, Sendable {
    private static let wildcards = Set("*?[".utf8)

    /// The folder above the first wildcard.
    package let folder: FilePath
    /// What is below it.
    private let pattern: FilePath

    private init(folder: FilePath, pattern: FilePath) {
        self.folder = folder
        self.pattern = pattern
    }

    /// `nil` when the path has no wildcard.
    /// - Parameters:
    ///   - path: absolute.
    ///   - isName: whether a path that looks like a wildcard is the name of something: `Rome [1]` is no pattern for
    ///     `Rome 1` then.
    package init?(_ path: FilePath, isName: (FilePath) throws -> Bool) rethrows {
        var folder = FilePath(root: path.root)
        var pattern = FilePath()
        for component in path.components {
            if pattern.isEmpty {
                let next = folder.appending(component)
                var isLiteral = Self.wildcards.isDisjoint(with: component.bytes)
                if !isLiteral { isLiteral = try isName(next) }
                if isLiteral {
                    folder = next
                    continue
                }
            }
            pattern.append(component)
        }
        if pattern.isEmpty { return nil }
        self.init(folder: folder, pattern: pattern)
    }

    /// The same wildcards below another folder.
    package func below(_ folder: FilePath) -> PathPattern { PathPattern(folder: folder, pattern: pattern) }

    /// Whether the path, or a folder above it, is one that the pattern means: a folder is taken whole. A wildcard stands
    /// for no `/`, and for no dot at the beginning of a name (fnmatch(3), FNM_PATHNAME and FNM_PERIOD).
    package func matches(_ path: FilePath) -> Bool {
        var rest = path
        guard rest.removePrefix(folder) else { return false }
        let start = FilePath(root: nil, rest.components.prefix(pattern.components.count))
        return pattern.withPlatformString { pattern in
            start.withPlatformString { fnmatch(pattern, $0, FNM_PATHNAME | FNM_PERIOD) == 0 }
        }
    }
}
