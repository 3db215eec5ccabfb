import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

extension Ledger {
    /// Tells of the photo at a path, or of every photo below it, folders that are no longer configured included; a path
    /// known only to the ledger is found. The order is that of the bytes of directories, then of names.
    ///
    /// Photos are read in pages: memory is bounded, no transaction stays open while `visit` runs, and a photo that
    /// changes its place meanwhile may be met twice or not at all.
    /// - Parameter path: absolute.
    /// - Returns: how many there were.
    /// - Throws: ``LedgerError``, or what `visit` throws.
    @discardableResult
    package func photos(at path: FilePath, visit: (PhotoStatus) throws -> Void) throws -> Int {
        let folders = try read("list photos") { db in
            try db.rows("SELECT \(FolderRecord.columns) FROM folders ORDER BY path", as: FolderRecord.self)
        }
        var count = 0
        for folder in folders {
            guard let start = Self.place(path, in: folder.path) else { continue }
            var listing: PhotoListing? = PhotoListing(folder: folder.id, start: start)
            while var current = listing {
                let page = try read("list photos") { try current.next(in: $0) }
                try page.forEach(visit)
                count += page.count
                listing = page.isEmpty ? nil : current
            }
        }
        return count
    }

    /// Photos that cannot be stored as they are, those that failed first at the head.
    package func failedPhotos(limit: Int) throws(LedgerError) -> [PhotoStatus] {
        try read("list failed photos") { db in
            try db.activeFolders().flatMap { folder in
                try db.numbers(LedgerQuery.firstFailed, [folder.id.rawValue, limit])
            }.compactMap { try db.row(LedgerQuery.photo, [$0], as: PhotoStatus.self) }
                .sorted { ($0.queuedAt, $0.id) < ($1.queuedAt, $1.id) }
                .prefix(limit).map(\.self)
        }
    }

    /// Where `path` is in a folder, relative to it; the folder itself when it is above; `nil` when it is elsewhere.
    private static func place(_ path: FilePath, in folder: FilePath) -> FilePath? {
        if folder.starts(with: path) { return "" }
        var rest = path
        return rest.removePrefix(folder) ? rest : nil
    }
}

/// A walk over the photos at and below a place, page by page. It remembers the last photo that it told of.
private struct PhotoListing {
    static let pageSize = 500
    /// No name holds a NUL. (An empty BLOB would be bound as NULL.)
    private static let beforeAllNames = Data([0])

    let folder: FolderID
    let start: FilePath
    private var directory: DirectoryEntry?
    private var name = Self.beforeAllNames
    private var isBegun = false

    init(folder: FolderID, start: FilePath) {
        self.folder = folder
        self.start = start
    }

    /// The next photos; none at the end.
    mutating func next(in db: Database) throws -> [PhotoStatus] {
        var page: [PhotoStatus] = []
        if !isBegun {
            isBegun = true
            page += try file(in: db)
            directory = try DirectoryTable(db).find(start, in: folder).map { DirectoryEntry(id: $0, path: start) }
            if directory == nil { directory = try following(start, in: db) }
        }
        while let current = directory, page.count < Self.pageSize {
            let room = Self.pageSize - page.count
            let photos = try db.rows(
                LedgerQuery.photosOfDirectory, [current.id.rawValue, name, room], as: PhotoStatus.self)
            page += photos
            if photos.count == room, let last = photos.last?.relativePath.lastComponent {
                name = Data(last.bytes)
            } else {
                directory = try following(current.path, in: db)
                name = Self.beforeAllNames
            }
        }
        return page
    }

    /// The photo when `start` is a file.
    private func file(in db: Database) throws -> [PhotoStatus] {
        guard let last = start.lastComponent,
            let parent = try DirectoryTable(db).find(start.removingLastComponent(), in: folder)
        else { return [] }
        return try db.rows(LedgerQuery.photoOfFile, [parent.rawValue, Data(last.bytes)])
    }

    /// The directory after `path` in the order of bytes, below `start`.
    private func following(_ path: FilePath, in db: Database) throws -> DirectoryEntry? {
        let range = SubtreeRange(below: start)
        let path = path.directoryBlob
        let from = path.lexicographicallyPrecedes(range.from) ? range.from : path
        return try db.row(
            LedgerQuery.nextDirectory, [folder.rawValue, from, range.to])
    }
}
