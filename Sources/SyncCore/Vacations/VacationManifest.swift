@_spi(_Unicode) import Swift

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
        guard let version = try? ReadableJSON.version(bytes) else { throw .unreadable }
        guard version <= Self.currentVersion else { throw .newer(version: version) }
        guard let manifest: Self = try? ReadableJSON.note(bytes) else { throw .unreadable }
        self = manifest
    }

    /// As it is stored: JSON with sorted keys, times in ISO 8601 (those of capture as ``CaptureTime`` has them).
    package func encoded() throws -> [UInt8] { try ReadableJSON.json(self) }

    /// Whether both tell the same of the same photos, whatever these are called on the two machines.
    package func isEquivalent(to other: VacationManifest) -> Bool {
        (cacheKey, location, startDate, endDate, sharedBy)
            == (other.cacheKey, other.location, other.startDate, other.endDate, other.sharedBy)
            && photos.map(\.md5).sorted() == other.photos.map(\.md5).sorted()
    }
}

/// The order in which a vacation's photos are seen: by the instants of capture, then by the bytes of their names. Those of
/// which no capture time is known come after the others.
package struct VacationOrder: Comparable {
    private let position: Int64?
    private let name: String

    /// - Parameter offsets: of all photos of the vacation.
    package init(takenAt: CaptureTime?, name: String, offsets: CaptureOffsets) {
        position = takenAt.map { offsets.position(of: $0) }
        self.name = name
    }

    package static func < (left: VacationOrder, right: VacationOrder) -> Bool {
        switch (left.position, right.position) {
        case (let one?, let other?) where one != other: one < other
        case (.some, nil): true
        case (nil, .some): false
        default: left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }
}

/// What two vacations have in common when they consist of the same photos, whatever these are called: the fingerprint is the
/// SHA-256 of ``material(_:)``.
package enum VacationFingerprint {
    /// The MD5s of all photos in ascending order, 16 bytes each, one after the other.
    package static func material(_ photos: some Sequence<MD5Digest>) -> [UInt8] {
        photos.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
    }
}

/// The name of what is stored of a vacation: `{location}_{startDate}_{endDate}_{photoCount}`, as in
/// `Paris_France_2024-06-15_2024-06-22_45`. It is a segment of an object key.
package enum VacationCacheKey {
    /// Bytes of UTF-8 that a location may take.
    private static let maximumLength = 200

    package static func text(location: String, days: ClosedRange<CalendarDay>, photoCount: Int) -> String {
        "\(segment(of: location))_\(days.lowerBound)_\(days.upperBound)_\(photoCount)"
    }

    /// The key of one of several vacations that have the same: the first as it is, then `…-2`.
    package static func text(_ cacheKey: String, number: Int) -> String {
        number == 1 ? cacheKey : "\(cacheKey)-\(number)"
    }

    /// Whether a text is ``text(_:number:)`` of this key, whatever the number. A key ends with the count of photos, so that
    /// none is another with a number.
    package static func isText(_ text: String, numbering cacheKey: String) -> Bool {
        guard text.hasPrefix(cacheKey) else { return false }
        let rest = text.dropFirst(cacheKey.count)
        return rest.isEmpty || rest.first == "-" && Int(rest.dropFirst()).map { $0 > 1 } ?? false
    }

    /// A location in the Unicode Normalization Form C, so that the names that macOS and Linux give one folder are one key.
    /// Every run of characters other than letters, digits, marks and `-` is one `_`.
    private static func segment(of location: String) -> String {
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: location._nfc)
        let words = composed.split { !isKept($0) }.map { String($0) }.joined(separator: "_")
        var result = ""
        var length = 0
        for character in words {
            length += character.utf8.count
            if length > maximumLength { break }
            result.append(character)
        }
        while result.last == "_" { result.removeLast() }
        return result.isEmpty ? "vacation" : result
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.isASCIILetterOrDigit || scalar == "-" }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIILetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
}
