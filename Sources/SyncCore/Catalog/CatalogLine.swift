package import FoundationEssentials
package import SystemPackage

/// One line of a segment of the catalogue: a JSON object. docs/backup.md has an example of each.
///
/// The first line is a ``CatalogHeader``, the last one tells how many there are. What a later version adds to a line is
/// passed over; what it means otherwise gets another version in the header.
package enum CatalogLine: Hashable, Sendable {
    case header(CatalogHeader)
    case folder(CatalogFolder)
    /// What is stored under a path, in place of what earlier segments say of it.
    case photo(CatalogPhoto)
    /// Nothing is known by this path any more.
    case gone(CatalogPlace)
    /// What follows of vacations, shares, restores and profiles stands for all that earlier segments say of them.
    case state
    case vacation(CatalogVacation)
    case share(CatalogShare)
    case restore(CatalogRestore)
    case profile(CatalogProfile)
    /// The number of lines above.
    case end(Int)
    /// Nothing that this version knows.
    case unknown
}

/// The first line of a segment.
package struct CatalogHeader: Hashable, Sendable, Codable {
    package static let currentVersion = 1

    /// Of the format.
    package var catalog: Int
    package var user: String
    /// The machine's id, and what people call it.
    package var machine: String
    package var name: String
    /// The writes that this segment stands for: from 1 on, it is a full one.
    package var from: Int
    package var to: Int
    package var written: Date
    /// Machines whose photos this one has taken over, and up to which write of theirs.
    package var replaces: [String: Int]?

    package init(
        user: String, machine: String, name: String, from: Int, to: Int, written: Date, replaces: [String: Int] = [:]
    ) {
        catalog = Self.currentVersion
        self.user = user
        self.machine = machine
        self.name = name
        self.from = from
        self.to = to
        self.written = written
        self.replaces = replaces.isEmpty ? nil : replaces
    }
}

/// A path below a watched folder.
package struct CatalogPlace: Hashable, Sendable {
    package var folder: Int64
    package var path: FilePath

    package init(folder: Int64, path: FilePath) {
        self.folder = folder
        self.path = path
    }
}

/// A path as text, where it is some; else its bytes in base64 behind `base64:`, which no path of ours begins with.
package struct CatalogPath: Hashable, Sendable, Codable {
    private static let mark = "base64:"

    package var path: FilePath

    package init(_ path: FilePath) {
        self.path = path
    }

    fileprivate func moved(to places: [FilePath: FilePath]) -> CatalogPath {
        let roots = places.keys.filter { path.starts(with: $0) }
        guard let root = roots.max(by: { $0.length < $1.length }), let place = places[root] else { return self }
        var (rest, moved) = (path, place)
        _ = rest.removePrefix(root)
        moved.append(rest.components)
        return CatalogPath(moved)
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        if text.hasPrefix(Self.mark), let bytes = Data(base64Encoded: String(text.dropFirst(Self.mark.count))) {
            path = FilePath(bytes: bytes)
        } else {
            path = FilePath(text)
        }
        // A file in a bucket: whoever may write there must not choose where a restore writes here.
        guard path.leadsDown else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a path with . or .. in it"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let text = path.string
        if path.isText, !text.hasPrefix(Self.mark) {
            try container.encode(text)
        } else {
            try container.encode(Self.mark + Data(path.bytes).base64EncodedString())
        }
    }
}

/// What is stored of one photo.
package struct CatalogPhoto: Hashable, Sendable {
    package var place: CatalogPlace
    /// Of the file, where what is stored is its content of now: bytes, and nanoseconds since 1970.
    package var file: File?
    /// Of the photo; `nil` where it is not known.
    package var md5: MD5Digest?
    package var key: ObjectKey
    /// Of the stored bytes.
    package var sha256: SHA256Digest?
    package var size: Int64
    package var contentType: String
    package var takenAt: CaptureTime?
    package var width: Int?
    package var height: Int?
    /// Of a film.
    package var duration: Duration?
    /// On which the file was seen last, where that is another one than the one that is known of its place.
    package let drive: DriveIdentity?

    package struct File: Hashable, Sendable {
        package var size: Int64
        package var modified: Int64

        package init(size: Int64, modified: Int64) {
            self.size = size
            self.modified = modified
        }

        /// - Parameter modified: as somebody says.
        package init(size: Int64, modified: Date) {
            self.init(size: size, modified: FileStamp.time(modified))
        }
    }

    package init(
        place: CatalogPlace, file: File?, md5: MD5Digest?, key: ObjectKey, sha256: SHA256Digest?, size: Int64,
        contentType: String, takenAt: CaptureTime? = nil, width: Int? = nil, height: Int? = nil,
        duration: Duration? = nil, drive: DriveIdentity? = nil
    ) {
        self.place = place
        self.file = file
        self.md5 = md5
        self.key = key
        self.sha256 = sha256
        self.size = size
        self.contentType = contentType
        self.takenAt = takenAt
        self.width = width
        self.height = height
        self.duration = duration
        self.drive = drive?.inCatalog
    }
}

/// What was stored of a vacation.
package struct CatalogVacation: Hashable, Sendable, Codable {
    package var f: Int64
    package var vacation: CatalogPath
    package var location: String
    package var start: String
    package var end: String
    package var sharedBy: String?
    package var key: String?
    package var photos: Int?
    package var fingerprint: String?
    package var manifest: String?
    package var own: Bool?
    package var storedAt: Int64?

    package init(folder: Int64, name: FilePath, location: String, start: String, end: String) {
        f = folder
        vacation = CatalogPath(name)
        self.location = location
        self.start = start
        self.end = end
    }
}

/// A share with its state. Whom it was sent to stays on the machine.
package struct CatalogShare: Hashable, Sendable, Codable {
    package struct Photo: Hashable, Sendable, Codable {
        package var slot: Int
        package var position: Int?
        package var md5: String
        package var path: CatalogPath
        package var key: String?
        package var at: String?
        package var sha256: String?
        package var size: Int64?
        package var w: Int?
        package var h: Int?
        package var storedAt: Int64?
        /// Of a film: its type, how long it lasts, and whether there is a picture of it.
        package var film: String?
        package var ms: Int64?
        package var poster: Bool?
        package var local: Bool

        package init(slot: Int, md5: String, path: FilePath, local: Bool) {
            self.slot = slot
            self.md5 = md5
            self.path = CatalogPath(path)
            self.local = local
        }
    }

    package var share: String
    package var path: CatalogPath
    package var selection: String
    package var quality: String
    package var location: String
    package var start: String
    package var end: String
    package var sharedBy: String?
    package var createdAt: Int64
    package var expiresAt: Int64
    package var state: String
    package var step: String
    package var nextSlot: Int
    package var publishedAt: Int64?
    package var pageWrittenAt: Int64?
    package var linksEndAt: Int64?
    package var endedAt: Int64?
    /// What people call the machine on which it was taken back, where that is another one.
    package var endedBy: String?
    /// Whether others are told the names of the files; `nil` for no.
    package var names: Bool?
    /// Whether others may add photos; `nil` for no.
    package var guests: Bool?
    package var photos: [Photo]

    /// The same share where its folder is on another machine.
    /// - Parameter places: where the watched folders of its machine are there.
    package func moved(to places: [FilePath: FilePath]) -> CatalogShare {
        var copy = self
        copy.path = path.moved(to: places)
        for index in photos.indices { copy.photos[index].path = photos[index].path.moved(to: places) }
        return copy
    }

    package init(
        share: String, path: FilePath, selection: String, quality: String, location: String, start: String, end: String,
        createdAt: Int64, expiresAt: Int64, state: String, step: String, nextSlot: Int, photos: [Photo] = []
    ) {
        self.share = share
        self.path = CatalogPath(path)
        self.selection = selection
        self.quality = quality
        self.location = location
        self.start = start
        self.end = end
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.state = state
        self.step = step
        self.nextSlot = nextSlot
        self.photos = photos
    }
}

/// A profile by its id, as it stands in keys. No telephone number is in it.
package struct CatalogProfile: Hashable, Sendable, Codable {
    package var profile: String
    package var name: String?
    /// Whose all of it is.
    package var into: String?
    /// Whether it is known by a telephone number, which is not told; `nil` for yes.
    package var number: Bool?
    /// Whose all of it is to be, unless another machine does the opposite: nothing has moved.
    package var announced: String?

    package init(
        profile: String, name: String? = nil, into: String? = nil, number: Bool? = nil, announced: String? = nil
    ) {
        self.profile = profile
        self.name = name
        self.into = into
        self.number = number
        self.announced = announced
    }

    /// An id as it stands in keys, where a UUID has small letters; `nil` for what is none.
    package static func keyName(_ id: String) -> String? {
        guard (try? ObjectKey(segments: [id])) != nil else { return nil }
        return UUID(uuidString: id) == nil ? id : id.lowercased()
    }
}
