import FoundationEssentials

/// What is stored of a vacation, so that another machine of the same user knows it too: the JSON under
/// ``KeyLayout/vacation(_:)``.
package struct VacationManifest: Hashable, Sendable, Codable {
    /// Of this form. One of a newer version is not understood.
    package static let currentVersion = 1
    package static let contentType = "application/json"
    /// Bytes. What is larger is none of ours: 100,000 photos take less.
    package static let maximumSize = 64 << 20

    package struct Photo: Hashable, Sendable, Codable {
        /// Of the stored copy.
        package var key: String
        /// Of the photo on the disk, hexadecimal.
        package var md5: String
        /// Of the stored copy, hexadecimal.
        @ExplicitNull package var sha256: String?
        /// Below the folder of the vacation.
        package var name: String
        @ExplicitNull package var takenAt: CaptureTime?
        /// Pixels of the stored copy.
        @ExplicitNull package var width: Int?
        @ExplicitNull package var height: Int?
        /// Bytes of the stored copy.
        package var size: Int64

        package init(
            key: ObjectKey, md5: MD5Digest, sha256: SHA256Digest?, name: String, takenAt: CaptureTime?, width: Int?,
            height: Int?, size: Int64
        ) {
            self.key = key.rawValue
            self.md5 = md5.description
            self.name = name
            self.size = size
            self._sha256 = ExplicitNull(wrappedValue: sha256?.description)
            self._takenAt = ExplicitNull(wrappedValue: takenAt)
            self._width = ExplicitNull(wrappedValue: width)
            self._height = ExplicitNull(wrappedValue: height)
        }
    }

    package var version: Int
    package var cacheKey: String
    package var location: String
    package var startDate: CalendarDay
    package var endDate: CalendarDay
    package var photoCount: Int
    @ExplicitNull package var sharedBy: String?
    /// In their order.
    package var photos: [Photo]

    package init(cacheKey: String, details: VacationDetails, photos: [Photo]) {
        version = Self.currentVersion
        self.cacheKey = cacheKey
        location = details.location
        startDate = details.startDate
        endDate = details.endDate
        photoCount = photos.count
        self.photos = photos
        self._sharedBy = ExplicitNull(wrappedValue: details.sharedBy)
    }

    /// Why what is stored cannot be taken for a manifest.
    package enum Damage: Error, Hashable, Sendable, CustomStringConvertible {
        case unreadable
        case newer(version: Int)

        package var description: String {
            switch self {
            case .unreadable: "it cannot be read"
            case .newer(let version): "it is of version \(version), which a newer sync-agent writes"
            }
        }
    }

    /// - Throws: ``Damage``.
    package init(parsing bytes: [UInt8]) throws(Damage) {
        let decoder = JSONDecoder()
        let data = Data(bytes)
        guard let version = try? decoder.decode(Version.self, from: data).version else { throw .unreadable }
        guard version <= Self.currentVersion else { throw .newer(version: version) }
        guard let manifest = try? decoder.decode(Self.self, from: data) else { throw .unreadable }
        self = manifest
    }

    private struct Version: Decodable {
        var version: Int
    }

    /// As it is stored: JSON with sorted keys, times in ISO 8601 (those of capture as ``CaptureTime`` has them). The same manifest has the same bytes.
    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Whether both tell the same of the same photos, whatever these are called on the two machines.
    package func isEquivalent(to other: VacationManifest) -> Bool {
        (cacheKey, location, startDate, endDate, sharedBy)
            == (other.cacheKey, other.location, other.startDate, other.endDate, other.sharedBy)
            && photos.map(\.md5).sorted() == other.photos.map(\.md5).sorted()
    }
}
