package import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncLedger
package import SyncSystem
package import SystemPackage

/// Saves the images of projects into a folder: as they are on the disk, and from the store where the disk has them no
/// longer. Nothing is replaced.
package struct ProjectExport: Sendable {
    package struct Item: Hashable, Sendable {
        package enum Source: Hashable, Sendable {
            case file(FilePath)
            case object(ObjectKey, SHA256Digest?, storedAt: Date)
        }

        package var id: String
        package var name: FilePath.Component
        package var source: Source
        /// Where else the image is, should its file not be there: its drive may be away.
        package var stored: Source?
    }

    package typealias Outcome = Result<DownloadOutcome, any Error>

    private let store: any ObjectSource
    private let download: ObjectDownload
    private let pool: BlockingPool
    private let time: TimeSource

    package init(store: any ObjectSource, pool: BlockingPool, time: TimeSource) {
        self.store = store
        self.pool = pool
        self.time = time
        download = ObjectDownload(store: store, pool: pool, time: time)
    }

    /// Names such as `2026-05-01_Oil_painting_0F3A9C21.jpg`; two of one name get the whole id.
    /// - Returns: what can be saved, and the ids of projects that have no image anywhere.
    package static func items(of entries: [ProjectEntry]) -> (items: [Item], without: [String]) {
        var items: [Item] = []
        var without: [String] = []
        var taken: Set<ByteString> = []
        for entry in entries {
            guard let (source, stored, ending) = source(of: entry) else {
                without.append(entry.record.id)
                continue
            }
            let start = "\(CalendarDay(entry.record.createdAt))_\(plain(entry.record.templateName))_"
            var name = "\(start)\(plain(String(entry.record.id.prefix(8)))).\(ending)"
            if !taken.insert(name.inBytes).inserted { name = "\(start)\(plain(entry.record.id)).\(ending)" }
            guard let component = FilePath.Component(name) else { continue }
            items.append(Item(id: entry.record.id, name: component, source: source, stored: stored))
        }
        return (items, without)
    }

    /// - Returns: one outcome for each item.
    package func save(_ items: [Item], to folder: FilePath) async -> [Outcome] {
        let home: HeldFolder
        do {
            home = try await pool.run { try HeldFolder(folder) }
        } catch {
            return items.map { _ in .failure(error) }
        }
        let outcomes = await collect(items) { try await save($0, to: home.held) }
        await DownloadBatch.removeLeftovers(home.held, after: outcomes, pool, now: time.now())
        return outcomes.map { outcome in outcome.mapError { home.told($0) } }
    }

    /// Writes the images into one archive. An image that cannot be read is left out; an archive that cannot be written ends
    /// it. The archive is finished, unless nothing is in it.
    /// - Parameter path: of the archive. Beside it, a hidden folder holds one image at a time that comes from the store.
    /// - Throws: ``ZipError``, ``DownloadError`` about that folder, `CancellationError`.
    package func save(_ items: [Item], into archive: any ZipWriter, at path: FilePath) async throws -> [Outcome] {
        let objects = try await ZipDownload(from: store, into: archive, at: path, pool: pool, time: time)
        let outcomes = await collect(items) { try await add($0, to: archive, objects) }
        await objects.cleanUp()
        for case .failure(let error) in outcomes {
            if let error = error as? ZipError, !error.isAboutOneEntry { throw error }
        }
        if outcomes.contains(where: { (try? $0.get()) != nil }) { try await pool.run { try archive.finish() } }
        return outcomes
    }

    private func collect(_ items: [Item], _ save: (Item) async throws -> DownloadOutcome) async -> [Outcome] {
        var outcomes: [Outcome] = []
        for item in items { outcomes.append(await Result { try await save(findable(item)) }) }
        return outcomes
    }

    /// The ledger tells what a scan has seen, and knows of no drive that was taken away since.
    private func findable(_ item: Item) async throws -> Item {
        guard case .file(let path) = item.source else { return item }
        let isThere = try await pool.run { FileStamp.ofFile(path) != nil }
        if isThere { return item }
        guard let stored = item.stored else {
            throw DownloadError(.ioFailed, path, "it is not there, and not stored as it was; is its drive mounted?")
        }
        var item = item
        item.source = stored
        return item
    }

    private func add(_ item: Item, to archive: any ZipWriter, _ objects: ZipDownload) async throws -> DownloadOutcome {
        switch item.source {
        case .object(let key, let sha256, let storedAt):
            return try await objects.add(key, as: item.name.string, sha256: sha256, modified: storedAt)
        case .file(let path):
            try await pool.run {
                guard let stamp = FileStamp.ofFile(path) else {
                    throw ZipError(.badSource, path.string, "it is gone")
                }
                let modified = Date(timeIntervalSince1970: Double(stamp.modified) / 1e9)
                try archive.add(ZipEntry(name: item.name.string, size: stamp.size, modified: modified), from: path)
            }
            return .saved(isVerified: true)
        }
    }

    private func save(_ item: Item, to folder: FilePath) async throws -> DownloadOutcome {
        switch item.source {
        case .object(let key, let sha256, _):
            return try await download.run(DownloadTask(key: key, folder: folder, name: item.name, sha256: sha256))
        case .file(let path):
            let destination = folder.appending(item.name)
            let outcome = try await pool.runChecking { flag in
                do {
                    return try FileCopy(calls: DownloadCalls()).run(path, to: destination, flag)
                } catch let error as Errno {
                    throw DownloadError(error, destination)
                }
            }
            return switch outcome {
            case .copied: .saved(isVerified: true)
            case .alreadyThere: .alreadyThere
            case .conflict: .kept
            }
        }
    }

    private static func source(of entry: ProjectEntry) -> (Item.Source, stored: Item.Source?, ending: String)? {
        if let image = entry.image, image.bytesLocal != nil {
            let ending = image.path.extension?.lowercased() ?? "jpg"
            return (.file(image.path), image.object.map { place(of: $0) }, ending)
        }
        guard let object = entry.object else { return nil }
        let ending = object.key.lastSegment.split(separator: ".").last.map { $0.lowercased() } ?? "jpg"
        return (place(of: object), nil, ending)
    }

    private static func place(of object: ObjectRecord) -> Item.Source {
        .object(object.key, object.sha256, storedAt: object.storedAt)
    }

    /// Letters and digits, all else as `_`.
    private static func plain(_ text: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        var name = words.joined(separator: "_")
        while name.utf8.count > 80 { name.removeLast() }
        return name.isEmpty ? "project" : name
    }
}

/// Copies one file so that nothing is lost by it: never over another file, and only proven bytes get the name.
struct FileCopy: Sendable {
    enum Outcome: Hashable, Sendable {
        case copied
        /// A file with the same bytes has the name.
        case alreadyThere
        /// Something else has the name.
        case conflict
    }

    /// The copy that was read back has other bytes than the file.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    let calls: DownloadCalls

    /// What is in the place of a copy; `nil` when nothing is.
    func comparison(of source: FilePath, at destination: FilePath, _ flag: CancellationFlag) throws -> Outcome? {
        guard let other = try FileStatus.find(destination) else { return nil }
        // One file under two names, or met through a link: to remove one would be to lose it.
        if let mine = try? FileStatus(at: source), mine.kind == .file, mine.isSameFile(as: other) { return .conflict }
        let digest = try FileDigest.of(source, size: nil, flag)
        guard let digest, let other = try FileDigest.of(destination, size: nil, flag) else { return .conflict }
        return digest == other ? .alreadyThere : .conflict
    }

    /// Time, mode and attributes are kept, as far as the file system can.
    /// - Throws: ``DownloadError`` `.inUse` while somebody else makes the same file; `Errno`, ``Mismatch``,
    ///   `CancellationError`.
    func run(_ source: FilePath, to destination: FilePath, _ flag: CancellationFlag) throws -> Outcome {
        // A run that was killed leaves its hidden file: half of it, or another name of it.
        try NewFile.discard(for: destination)
        if let outcome = try comparison(of: source, at: destination, flag) { return try settled(outcome, destination) }
        let copy: NewFile
        do {
            copy = try NewFile(for: destination, link: calls.link, syncFolder: calls.syncFolder)
        } catch Errno.wouldBlock {
            throw DownloadError(.inUse, destination, "it is being written already, here or by another process")
        }
        defer { copy.leave() }
        let expected = try write(source, to: copy.descriptor, flag)
        guard try FileDigest.of(copy.path, size: nil, flag) == expected else {
            throw Mismatch(description: "the copy was read back and has other bytes; check the disk")
        }
        if try copy.place(overwrites: false) { return .copied }
        return try settled(try comparison(of: source, at: destination, flag) ?? .conflict, destination)
    }

    /// Whoever has put the same file there need not have synced it, and its source may be removed now.
    private func settled(_ outcome: Outcome, _ destination: FilePath) throws -> Outcome {
        guard outcome == .alreadyThere else { return outcome }
        let file = try FileDescriptor.open(destination, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? file.close() }
        try file.sync()
        try calls.syncFolder(destination.removingLastComponent())
        return outcome
    }

    private func write(
        _ source: FilePath, to output: FileDescriptor, _ flag: CancellationFlag
    ) throws -> ContentDigest {
        let input = try FileDescriptor.open(source, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? input.close() }
        let (status, times) = (try FileStatus(of: input), try FileTimes(of: input))
        var hasher = ContentHasher()
        var offset: Int64 = 0
        try input.eachPiece(flag) { bytes in
            hasher.update(bytes)
            offset = try calls.writeAll(bytes, to: output, at: offset)
        }
        // File systems without times or modes of their own (FAT, SMB) refuse; the bytes count.
        try? times.set(on: output)
        try FileAttributes(of: input).setWhereKept(on: output)
        // Whose rights a program runs with (set-user-ID) is not copied.
        try? output.setPermissions(FilePermissions(rawValue: status.permissions.rawValue & 0o777))
        try output.sync()
        return hasher.finalize()
    }
}
