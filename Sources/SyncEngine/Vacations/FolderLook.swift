package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

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

    /// Whether nothing has happened in the folder of which the ledger does not know. A file that was not read yet is known.
    package var isCurrent: Bool { unseen.isEmpty }

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
