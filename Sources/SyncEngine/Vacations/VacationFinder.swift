package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// A vacation as it is now: what it is called, when it was, and its photos.
package struct Vacation: Hashable, Sendable {
    package let id: VacationID
    /// Absolute. It may be gone from this disk.
    package var folder: FilePath
    package var details: VacationDetails
    /// In order. Those on the disk that are stored or wait to be; or, when the whole folder is gone from the disk, those
    /// that were stored last, each of them `.missing` or `.lost`.
    package var photos: [VacationPhoto]
    /// Those on the disk that cannot be stored.
    package var failures: [VacationPhoto] = []
    /// How many photos were in its folder, and are not there any more.
    package var gone = 0
    /// What of its `vacation.json` is ignored, and why, for people.
    package var problems: [String] = []
    /// Counts the changes of what the ledger knows of it.
    package var revision: Int64 = 0

    package var location: String { details.location }
    package var startDate: CalendarDay { details.startDate }
    package var endDate: CalendarDay { details.endDate }
    package var sharedBy: String? { details.sharedBy }
    package var cacheKey: String { details.cacheKey(photoCount: photos.count) }
    /// How many of its photos are not stored yet.
    package var waiting: Int { photos.count { !$0.isStored } }
}

/// Finds the vacation that a person means: by the path of its folder, the folder's name, its location, its cache key, or
/// the words with which one of these begins.
package struct VacationFinder: Sendable {
    private let ledger: LedgerQueue
    private let reader: VacationReader
    private let places: RestoreSelection.Places
    private let scanner: any TreeScanner
    private let pool: BlockingPool

    /// - Parameter pool: for reading descriptions, and looking at folders.
    package init(
        ledger: LedgerQueue, pool: BlockingPool, places: RestoreSelection.Places, scanner: any TreeScanner,
        descriptions: DescriptionSource = .disk
    ) {
        self.ledger = ledger
        self.places = places
        self.scanner = scanner
        self.pool = pool
        reader = VacationReader(ledger: ledger, pool: pool, descriptions: descriptions)
    }

    /// - Parameter name: whole, as it is written first, then in any case, where that is only one vacation.
    /// - Throws: ``VacationLookupError``, ``VacationReadError``, ``LedgerError``, `CancellationError`.
    package func find(_ name: String) async throws -> Vacation {
        let record = try await names().record(named: name)
        guard let vacation = try await reader.read(record.id), !vacation.photos.isEmpty else {
            throw VacationLookupError.empty(record.folder)
        }
        return vacation
    }

    /// The vacation in a folder, as it is now; `nil` when the ledger knows of no photo in it.
    /// - Parameter folder: absolute, as the ledger calls it (``Vacation/folder``).
    /// - Throws: ``VacationReadError``, ``LedgerError``, `CancellationError`.
    package func vacation(in folder: FilePath) async throws -> Vacation? {
        let known = try await ledger { try $0.vacations().first { $0.folder == folder && $0.isKnown } }
        return if let known { try await reader.read(known.id) } else { nil }
    }

    /// The folder of the vacation that a person means, also by its first words: also one that was never looked at.
    /// - Throws: ``VacationLookupError``, ``LedgerError``, `CancellationError`.
    package func folder(named name: String) async throws -> FilePath {
        do {
            return try await names().record(named: name).folder
        } catch let error as VacationLookupError {
            guard case .unknown = error else { throw error }
            // A new folder that is called so is meant rather than an older one whose name only begins so.
            if let folder = try await unseenFolder(named: name) { return folder }
            return try await names().record(beginningWith: name).folder
        }
    }

    /// A folder that is one of a vacation by its place, and that the ledger does not know.
    private func unseenFolder(named name: String) async throws -> FilePath? {
        guard !name.isEmpty else { return nil }
        let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
        let named = places.candidates(path).filter { places.vacationRoots.contains($0.removingLastComponent()) }
        let component = FilePath.Component(bytes: RawText.bytes(of: name)).flatMap { $0.kind == .regular ? $0 : nil }
        let folders = named + (component.map { name in places.vacationRoots.map { $0.appending(name) } } ?? [])
        return try await pool.run { [scanner] in folders.first { scanner.isFolder($0) } }
    }

    private func names() async throws -> VacationNames {
        try await ledger { [places] in
            VacationNames(known: try $0.vacations().filter(\.isKnown), places: places)
        }
    }
}

/// The one place that tells which vacation is meant by what a person writes: the path of its folder, the folder's name,
/// its location, its cache key, or the words with which one of these begins.
struct VacationNames: Sendable {
    let known: [VacationRecord]
    let places: RestoreSelection.Places

    /// - Parameter name: whole, or the first words of it where only one vacation begins with them: `Paris` for
    ///   `Paris_France_2024-06-15_2024-06-22`.
    func record(beginningWith name: String) throws(VacationLookupError) -> VacationRecord {
        do throws(VacationLookupError) {
            return try record(named: name)
        } catch {
            guard case .unknown = error else { throw error }
            let found = known.filter { record in
                [record.folderName, record.location].contains { Self.begins($0, with: name) }
            }
            if found.count > 1 { throw .ambiguous(name, folders: found.map(\.folder)) }
            guard let record = found.first else { throw error }
            return record
        }
    }

    /// Whether the first words of a text are these, in any case.
    private static func begins(_ text: String, with words: String) -> Bool {
        let (text, words) = (text.lowercased(), words.lowercased())
        guard !words.isEmpty, text.hasPrefix(words) else { return false }
        return text.dropFirst(words.count).first.map { !$0.isLetter && !$0.isNumber } ?? true
    }

    /// - Parameter name: whole, as it is written first, then in any case, where that is only one vacation.
    func record(named name: String) throws(VacationLookupError) -> VacationRecord {
        // An empty name would be the working folder, and is a variable that was not set.
        guard !name.isEmpty else { throw .unknown(name, near: []) }
        let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
        for candidate in places.candidates(path) {
            if let record = known.first(where: { $0.folder == candidate }) { return record }
        }
        let comparisons: [(String, String) -> Bool] = [{ $0 == $1 }, { $0.lowercased() == $1.lowercased() }]
        let aspects: [(VacationRecord) -> String?] = [{ $0.folderName }, { $0.location }, { $0.cacheKey }]
        for isSame in comparisons {
            for aspect in aspects {
                let found = known.filter { record in aspect(record).map { isSame($0, name) } ?? false }
                if found.count == 1 { return found[0] }
                if found.count > 1 { throw .ambiguous(name, folders: found.map(\.folder)) }
            }
        }
        throw .unknown(name, near: nearNames(of: name, among: known.map(\.folderName)))
    }
}

/// Why no vacation was found by what a person wrote.
package enum VacationLookupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// - Parameter near: names that were perhaps meant.
    case unknown(String, near: [String])
    /// - Parameter folders: of the vacations that it may mean.
    case ambiguous(String, folders: [FilePath])
    /// It is a vacation, and nothing is in it yet that could be stored.
    case empty(FilePath)

    package var description: String {
        switch self {
        case .unknown(let name, let near):
            let hint =
                near.isEmpty
                ? "a vacation is a folder in a watched folder of the kind vacations; was it synced?"
                : "did you mean \(near.map { "\"\($0.escapingControls)\"" }.joined(separator: " or "))?"
            return "\(RawText.shown(name).escapingControls): no vacation has this name; \(hint)"
        case .ambiguous(let name, let folders):
            return "\(RawText.shown(name).escapingControls): more than one vacation has this name; name its folder:\n"
                + folders.map { "  \($0.string.escapingControls)" }.joined(separator: "\n")
        case .empty(let folder):
            return "\(folder.text.escapingControls): there is no photo in it yet that is stored or could be"
        }
    }
}

extension VacationNames {
    private static let limit = 3

    /// Names that somebody may have meant who wrote another one: one of them holds the other, or a few letters differ.
    private func nearNames(of name: String, among known: [String]) -> [String] {
        let asked = name.lowercased()
        let tolerated = max(asked.count / 4, 1)
        let rated = Set(known).compactMap { known -> (name: String, distance: Int)? in
            let candidate = known.lowercased()
            if candidate.contains(asked) || asked.contains(candidate) { return (known, 0) }
            let distance = Self.distance(Array(asked), Array(candidate))
            return distance <= tolerated ? (known, distance) : nil
        }
        return rated.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(Self.limit).map(\.name)
    }

    /// How many letters have to be added, removed or changed (V. I. Levenshtein, 1965).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, candidate) in other.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (letter == candidate ? 0 : 1))
                diagonal = above
            }
        }
        return row[other.count]
    }
}

/// Puts together what the ledger and the disk know of a vacation.
struct VacationReader: Sendable {
    let ledger: LedgerQueue
    /// For reading descriptions.
    let pool: BlockingPool
    let descriptions: DescriptionSource
    private let zone = MachineZone.current

    /// - Returns: `nil` when there is no such vacation, or nobody knows a date of it.
    /// - Throws: ``VacationReadError``, ``LedgerError``, `CancellationError`.
    func read(_ id: VacationID) async throws -> Vacation? {
        guard let content = try await ledger({ try $0.vacationContent(id) }) else { return nil }
        return try await read(content)
    }

    func read(_ content: VacationContent) async throws -> Vacation? {
        let record = content.record
        // What is gone was described when it was there.
        let description =
            record.isOnDisk
            ? try await pool.run { [descriptions] in try descriptions.read(record.folder) } : VacationDescription()
        var photos = content.photos.filter { photo in
            record.isOnDisk
                ? photo.isStored && photo.state.isOnDisk || photo.state == .pending || photo.state == .uploading
                : content.holds(photo)
        }
        let offsets = CaptureOffsets(photos.compactMap(\.takenAt))
        photos = photos.map { (VacationOrder(takenAt: $0.takenAt, name: $0.name, offsets: offsets), $0) }
            .sorted { $0.0 < $1.0 }.map(\.1)
        // Where nothing can be stored, the files that failed still have their dates.
        let dated = photos.isEmpty ? content.photos : photos
        let resolved = VacationDetails(
            name: VacationName(record.folderName), description: description,
            photoDays: VacationDetails.photoDays(
                taken: dated.compactMap(\.takenAt), modified: dated.map(\.modified), zone: zone))
        // A second copy of a photo that is gone shows the same.
        let onDisk = Set(content.photos.filter(\.state.isOnDisk).compactMap(\.md5))
        let gone = content.photos.count { photo in
            !photo.state.isOnDisk && photo.md5.map { !onDisk.contains($0) } ?? true
        }
        let details = record.isOnDisk ? resolved : record.checkedDetails ?? resolved
        return details.map {
            Vacation(
                id: record.id, folder: record.folder, details: $0, photos: photos,
                failures: content.photos.filter { $0.state == .failed }.sorted { $0.name < $1.name },
                gone: record.isOnDisk ? gone : photos.count, problems: description.problems, revision: record.revision)
        }
    }
}

extension VacationContent {
    /// Whether a photo that is gone from the disk belonged to the vacation when it was stored last. A ledger that was rebuilt does
    /// not know which did: then each of them.
    func holds(_ photo: VacationPhoto) -> Bool {
        guard !photo.state.isOnDisk else { return false }
        return record.stored == nil || storedPhotos.isEmpty || photo.md5.map(storedPhotos.contains) ?? false
    }
}

/// A vacation's folder cannot be read, so that nothing is known of its description.
package struct VacationReadError: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: FilePath
    package var message: String

    package var description: String { "\(path.string.escapingControls): \(message)" }
}

/// Where the descriptions of vacations come from; tests have their own. Reading blocks.
package struct DescriptionSource: Sendable {
    /// The description in a vacation's folder: an empty one when there is none, one with a problem when it is no file that
    /// we read. Throws ``VacationReadError`` when the folder is gone, or cannot be read now: then nothing may be concluded.
    package let read: @Sendable (FilePath) throws -> VacationDescription

    /// `vacation.json` on the disk.
    package static let disk = DescriptionSource { try DescriptionSource.readFile(in: $0) }

    private static func readFile(in folder: FilePath) throws(VacationReadError) -> VacationDescription {
        let file = folder.appending(VacationDescription.fileName)
        do {
            let directory = try FileDescriptor.open(folder, .readOnly, options: [.directory, .closeOnExec])
            try directory.close()
            // Neither a link out of the folder nor a pipe is followed or waited for.
            let descriptor = try FileDescriptor.open(file, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            return try descriptor.closeAfter { try description(in: descriptor) }
        } catch let error as Errno {
            switch error {
            case .noSuchFileOrDirectory where isFolder(folder): return VacationDescription()
            case .noSuchFileOrDirectory:
                throw VacationReadError(path: folder, message: "the folder is not there; is its drive mounted?")
            case .tooManySymbolicLinkLevels: return VacationDescription(problems: ["it is a link"])
            case .permissionDenied: return VacationDescription(problems: ["it may not be read"])
            default: throw VacationReadError(path: file, message: error.description.lowercased())
            }
        } catch {
            throw VacationReadError(path: file, message: "\(error)")
        }
    }

    private static func description(in descriptor: FileDescriptor) throws -> VacationDescription {
        guard try FileStatus(of: descriptor).kind == .file else {
            return VacationDescription(problems: ["it is no file"])
        }
        let bytes = try descriptor.bytes(atMost: VacationDescription.maximumSize + 1)
        guard bytes.count <= VacationDescription.maximumSize else {
            return VacationDescription(problems: ["it is larger than \(VacationDescription.maximumSize) bytes"])
        }
        return VacationDescription(parsing: bytes)
    }

    private static func isFolder(_ path: FilePath) -> Bool {
        (try? FileStatus(at: path, followsLinks: true))?.kind == .folder
    }
}

/// A vacation's folder as it is on the disk at this moment, held against what the ledger knows of it. Nothing is written.
package struct FolderSnapshot: Sendable {
    /// A file that is there.
    struct File: Sendable {
        let path: FilePath
        /// What the ledger knows of it as it is now; `nil` of one that is new, not whole when it was seen, or another one
        /// than the ledger knows.
        let known: VacationPhoto?
    }

    /// `nil` when there is no such folder that could be read: a drive may be away.
    let files: [File]?
    /// Files that the ledger knows to be there, and that are not.
    let gone: [FilePath]

    /// What is not as the ledger knows it.
    package var unseen: [FilePath] { (files ?? []).filter { $0.known == nil }.map(\.path) + gone }

    /// - Parameters:
    ///   - folder: absolute.
    ///   - pool: for looking at the disk, which may hang.
    /// - Throws: ``LedgerError``, `CancellationError`; ``ScanError`` of a folder within that cannot be read.
    package static func take(
        at folder: FilePath, _ scanner: any TreeScanner, ledger: LedgerQueue, pool: BlockingPool
    ) async throws -> FolderSnapshot {
        let photos = try await ledger { ledger in
            try ledger.vacation(in: folder).map { try ledger.files(of: $0) } ?? []
        }
        return try await pool.run { try FolderSnapshot(at: folder, scanner, knowing: photos) }
    }

    private init(at folder: FilePath, _ scanner: any TreeScanner, knowing photos: [VacationPhoto]) throws {
        let known = Dictionary(photos.filter(\.state.isOnDisk).map { ($0.path, $0) }, uniquingKeysWith: { $1 })
        func isKnown(_ row: VacationPhoto, as stamp: FileStamp) -> Bool {
            !row.isHeld && stamp.isUntouched(since: row.stamp)
        }
        var files: [File] = []
        var names: Set<FilePath> = []
        do {
            try scanner.scan(root: folder, from: folder) { scanned in
                if let error = scanned.error { throw error }
                for file in scanned.files {
                    let path = folder.pushing(scanned.path).appending(file.name)
                    let row = known[path].flatMap { isKnown($0, as: file.stamp) ? $0 : nil }
                    files.append(File(path: path, known: row))
                    names.insert(path)
                }
            }
        } catch let error as ScanError where error.code == .missing && files.isEmpty {
            self.files = nil
            gone = []
            return
        }
        self.files = files
        gone = known.keys.filter { !names.contains($0) }.sorted { $0.string < $1.string }
    }
}
