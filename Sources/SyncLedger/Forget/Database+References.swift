package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

enum ForgetQuery {
    static let photosOfObject = """
        SELECT \(PhotoPlace.columns), photos.id, folders.machine FROM photos INDEXED BY photos_by_object
        \(PhotoPlace.joins)
        WHERE photos.object_id = ?
        """
    static let photosOfVersion = """
        SELECT \(PhotoPlace.columns), photos.id, folders.machine
        FROM photo_versions INDEXED BY photo_versions_by_object
        JOIN photos ON photos.id = photo_versions.photo_id
        \(PhotoPlace.joins)
        WHERE photo_versions.object_id = ?
        """
    static let openShare = """
        SELECT shares.id FROM share_photos JOIN shares ON shares.number = share_photos.share
        WHERE shares.state IN ('preparing', 'waiting', 'live') AND (share_photos.md5 = ? OR share_photos.source_key = ?)
        LIMIT 1
        """
    static let openRestore = """
        SELECT restore_items.job_id FROM restore_items JOIN restore_jobs ON restore_jobs.id = restore_items.job_id
        WHERE restore_items.key = ? AND (restore_items.state IN ('planned', 'retrieving')
            OR restore_items.state = 'restored' AND restore_items.saved_at IS NULL AND restore_jobs.output IS NOT NULL)
        LIMIT 1
        """
}

/// The vacations in whose manifests photos are, by the MD5s of the photos.
struct VacationLists {
    private let vacations: [(id: Int64, folder: FilePath, hasForgotten: Bool, photos: Set<MD5Digest>)]

    init(_ db: Database) throws {
        vacations = try db.rawRows(
            """
            SELECT vacations.id, folders.path, vacations.name, vacations.has_forgotten, vacation_sets.photos
            FROM vacation_sets JOIN vacations ON vacations.id = vacation_sets.vacation_id
            JOIN folders ON folders.id = vacations.folder_id WHERE vacations.cache_key IS NOT NULL
            """
        ).map { row in
            (row[0], FilePath(blob: row[1]).pushing(FilePath(blob: row[2])), row[3], MD5Digest.set(in: row[4]))
        }
    }

    /// - Parameter left: vacations whose manifests are written anew, since it is their photo that is forgotten.
    func references(to md5: MD5Digest, left: Set<Int64>) -> [StoredReference] {
        vacations.filter { $0.photos.contains(md5) && !$0.hasForgotten && !left.contains($0.id) }
            .map { .vacation($0.folder.text) }
    }
}

extension Database {
    /// What is stored of a photo, and of its earlier contents: copies, then their originals.
    func objects(of photo: Int64) throws -> [Int64] {
        var copies = try numbers(
            """
            SELECT object_id FROM photos WHERE id = ?1 AND object_id IS NOT NULL
            UNION SELECT object_id FROM photo_versions WHERE photo_id = ?1
            """, [photo])
        for copy in copies {
            for version in try versions(ofFileWith: copy) where !copies.contains(version) { copies.append(version) }
        }
        let originals = try copies.compactMap { copy in
            try record(ofObject: copy)?.key.original.flatMap { try objectID($0) }
        }
        return copies + originals
    }

    /// Earlier states of a file in a projects folder that is no project's: those go with their project.
    /// - Parameter object: as which the file is stored, under its name or as a version.
    private func versions(ofFileWith object: Int64) throws -> [Int64] {
        guard let file = try record(ofObject: object)?.key.versionedFile, file.kind == .file else { return [] }
        return try numbers(
            """
            SELECT objects.id FROM project_versions JOIN objects ON objects.key = project_versions.key
            WHERE project_versions.project_id = ? ORDER BY objects.key
            """, [file.name]
        ).filter { version in try record(ofObject: version).map { file.isVersion($0.key) } ?? false }
    }

    func vacation(of photo: Int64) throws -> Int64? {
        try number(
            """
            SELECT directories.vacation_id FROM photos JOIN directories ON directories.id = photos.directory_id
            WHERE photos.id = ?
            """, [photo])
    }

    /// What holds the object until it is over: its path, or its key, is needed to name it later.
    func hold(on object: Int64) throws -> StoredReference? {
        guard let known = try record(ofObject: object), known.isInStore else { return nil }
        return try holders(of: known).first { known.problem == nil ? $0.holdsPath : $0.holdsRuin }
    }

    /// - Parameters:
    ///   - photos: rows that do not count.
    ///   - left: vacations whose manifests do not.
    func references(
        of object: Int64, _ record: ObjectRecord, except photos: Set<Int64>, _ lists: VacationLists, left: Set<Int64>
    ) throws -> [StoredReference] {
        var found = try holders(of: record)
        // An original is needed as long as its copy is, too.
        if let key = record.key.copyOfOriginal, let copy = try objectID(key),
            let known = try self.record(ofObject: copy)
        {
            found += try references(of: copy, known, except: photos, lists, left: left)
        }
        for (query, isVersion) in [(ForgetQuery.photosOfObject, false), (ForgetQuery.photosOfVersion, true)] {
            for row in try rawRows(query, [object]) {
                if photos.contains(row[10]) { continue }
                let place = try PhotoPlace(row: row).absolute
                // The folders of other machines are below one of their name.
                let isOther = row[11] as String? != nil && place.components.count > 1 && place.starts(with: "/machines")
                if isOther, let name = place.components.dropFirst().first {
                    found.append(.machine(name.string))
                } else {
                    found.append(isVersion ? .version(place) : .path(place))
                }
            }
        }
        if try number("SELECT 1 FROM events WHERE object_id = ? AND photo_state = 'stored'", [object]) != nil {
            found.append(.event)
        }
        if let md5 = record.md5 { found += lists.references(to: md5, left: left) }
        return found
    }

    private func holders(of record: ObjectRecord) throws -> [StoredReference] {
        let key = record.key.rawValue
        var found: [StoredReference] = []
        let isVersion = try number("SELECT 1 FROM project_versions WHERE key = ?", [key]) != nil
        // Those of a file that is no project's go with it.
        let isOfOtherFile = VersionedFile(ofVersion: record.key)?.kind == .file
        if record.key.isOfProject || isVersion && !isOfOtherFile { found.append(.project) }
        if try number("SELECT 1 FROM retention_records WHERE key = ?", [key]) != nil { found.append(.archivedEvent) }
        let share = try String.fetchOne(
            cachedStatement(sql: ForgetQuery.openShare), arguments: [record.md5?.blob, key])
        if let share { found.append(.share(share)) }
        if let job = try number(ForgetQuery.openRestore, [key]) { found.append(.restore(job: job)) }
        return found
    }
}

/// What a stored object is still needed for.
package enum StoredReference: Hashable, Sendable {
    /// Another photo has the same content, whether its file is there or not.
    case path(FilePath)
    /// It is what was stored of an earlier content of this photo.
    case version(FilePath)
    /// The catalogue of another machine names it.
    case machine(String)
    /// The manifest of a vacation names it: a folder, or a cache key.
    case vacation(String)
    case event
    case archivedEvent
    case project
    /// An open share takes it from here.
    case share(String)
    /// It is being restored, or waits to be saved.
    case restore(job: Int64)
    /// Whether another machine needs it could not be read.
    case unread(String)
    /// A machine of this name stores for the same user, and what it needs is not known for certain.
    case others(String)

    /// Whether this ends by itself or by a command, so that its path stays known until then: nobody could name the object
    /// afterwards.
    package var holdsPath: Bool {
        switch self {
        case .share, .restore, .unread, .others, .project: true
        case .path, .version, .machine, .vacation, .event, .archivedEvent: false
        }
    }

    /// Whether the same is so of a photo that is lost: what is left of it goes when this is over, which is soon. For all
    /// else, which may never end, it is forgotten, and its ruin stays.
    package var holdsRuin: Bool {
        switch self {
        case .share, .restore: true
        case .path, .version, .machine, .vacation, .event, .archivedEvent, .project, .unread, .others: false
        }
    }
}

extension [StoredReference] {
    /// The one that is told of an object: what keeps even a lost photo comes first, and then what keeps any.
    package var decisive: StoredReference? { first(where: \.holdsRuin) ?? first(where: \.holdsPath) ?? first }
}

/// An object of which a path is to be forgotten.
package struct ForgottenObject: Hashable, Sendable {
    package var record: ObjectRecord
    /// The photos that were named, by their rows.
    package var photos: [Int64]
    /// What else needs it.
    package var references: [StoredReference]
    /// When it came into its storage class.
    package var since: Date
}

/// An object that nothing refers to, on its way out of the store.
package struct ObjectDeletion: Hashable, Sendable {
    package var key: ObjectKey
    package var size: Int64
    package var storageClass: StorageClass
}
