package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

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
        let details = record.isOnDisk ? resolved : record.lookedDetails ?? resolved
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
package struct FolderLook: Sendable {
    /// A file that is there.
    struct File: Sendable {
        let path: FilePath
        /// What the ledger knows of it as it is now; `nil` of one that is new, or another one than the ledger knows.
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
    ) async throws -> FolderLook {
        let photos = try await ledger { ledger in
            try ledger.vacation(in: folder).map { try ledger.files(of: $0) } ?? []
        }
        return try await pool.run { try FolderLook(at: folder, scanner, knowing: photos) }
    }

    private init(at folder: FilePath, _ scanner: any TreeScanner, knowing photos: [VacationPhoto]) throws {
        let known = Dictionary(photos.filter(\.state.isOnDisk).map { ($0.path, $0) }, uniquingKeysWith: { $1 })
        var files: [File] = []
        var names: Set<FilePath> = []
        do {
            try scanner.scan(root: folder, from: folder) { scanned in
                if let error = scanned.error { throw error }
                for file in scanned.files {
                    let path = folder.pushing(scanned.path).appending(file.name)
                    let row = known[path].flatMap { file.stamp.isUntouched(since: $0.stamp) ? $0 : nil }
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
