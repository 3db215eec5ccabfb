/// The name of one stored object, below the store's optional prefix: `users/ana/photos/{md5}.dat`.
///
/// A key is UTF-8 of 1 to 1,024 bytes (S3 User Guide, "Naming Amazon S3 objects"). Ours are stricter, because HTTP
/// stacks and file systems eat what S3 would keep: no empty, `.` or `..` segment, no leading or trailing `/`, no control
/// byte, no backslash.
package struct ObjectKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let maximumLength = 1_024

    package let rawValue: String

    /// - Throws: ``InvalidName`` that names the key and the reason.
    package init(_ rawValue: String) throws(InvalidName) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= Self.maximumLength else {
            throw InvalidName(name: rawValue, reason: "an object key has 1 to 1,024 bytes")
        }
        var name = rawValue
        if let reason = name.withUTF8({ Self.objection(to: $0) }) {
            throw InvalidName(name: rawValue, reason: reason)
        }
        self.rawValue = rawValue
    }

    /// A key put together from segments that come from outside (user, profile, event id, share id).
    /// - Throws: ``InvalidName`` when a segment holds a `/`, is `.` or `..`, is empty or has a control byte.
    package init(segments: [String]) throws(InvalidName) {
        for segment in segments where segment.utf8.contains(UInt8(ascii: "/")) {
            throw InvalidName(name: segment, reason: "a name may not contain \"/\"")
        }
        try self.init(segments.joined(separator: "/"))
    }

    package var description: String { rawValue }

    /// By bytes, as all that looks into keys: to a `String`, a `/` and a mark that a name begins with are one
    /// character.
    package var segments: [Substring] { rawValue.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init) }
    package var lastSegment: Substring { segments.last ?? rawValue[...] }

    /// All before ``lastSegment``, the `/` included.
    package var folder: String { String(Substring(rawValue.utf8.dropLast(lastSegment.utf8.count))) }

    /// Whether it begins with these bytes.
    package func isBelow(_ prefix: String) -> Bool {
        var (name, prefix) = (rawValue, prefix)
        return name.withUTF8 { name in
            prefix.withUTF8 { prefix in name.sharedBeginning(with: prefix) == prefix.count }
        }
    }

    /// What follows such a beginning; `nil` where it begins otherwise.
    package func name(below prefix: String) -> Substring? {
        isBelow(prefix) ? Substring(rawValue.utf8.dropFirst(prefix.utf8.count)) : nil
    }

    /// What is between such a beginning and such an end; `nil` where nothing is, or it begins or ends otherwise.
    package func name(between prefix: String, _ ending: String) -> Substring? {
        name(below: prefix)?.beginning(before: ending)
    }

    /// Whether it is that of a photo, an original or an event's photo: what stays for years, and is archived when it is old.
    package var holdsPhoto: Bool {
        let segments = rawValue.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3).map(Substring.init)
        return switch segments.first {
        case "users": segments.count == 4 && (segments[2] == "photos" || segments[2] == "originals")
        case "gallery-archive": segments.count > 2
        default: false
        }
    }

    /// The same on every machine and in every version. FNV-1a, and the end of MurmurHash3: each bit of the key counts
    /// for the upper ones.
    package var lastingHash: UInt64 {
        var hash = rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] as [UInt64] {
            hash = (hash ^ (hash >> 33)) &* factor
        }
        return hash ^ (hash >> 33)
    }

    /// By bytes: for a store, `é` as one character and as two are different keys, for `String` they are equal.
    package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.rawValue.inBytes == right.rawValue.inBytes
    }

    package func hash(into hasher: inout Hasher) { rawValue.inBytes.hash(into: &hasher) }

    package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        left.rawValue.inBytes < right.rawValue.inBytes
    }

    /// Where the text has its bytes, eight at a time: a listing makes a million keys.
    /// - Returns: why it cannot be a key; `nil` where it can.
    private static func objection(to name: UnsafeBufferPointer<UInt8>) -> String? {
        guard let bytes = UnsafeRawPointer(name.baseAddress) else { return Self.objection(toSegment: 0..<0, of: name) }
        var (start, place) = (0, 0)
        func objection(at place: Int) -> String? {
            switch name[place] {
            case UInt8(ascii: "/"):
                if let reason = Self.objection(toSegment: start..<place, of: name) { return reason }
                start = place + 1
            case ..<0x20, 0x7F, UInt8(ascii: "\\"):
                return "control characters and backslashes are not allowed"
            default: break
            }
            return nil
        }
        while place + 8 <= name.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            var doubtful = doubtfulBytes(of: word)
            while doubtful != 0 {
                if let reason = objection(at: place + doubtful.trailingZeroBitCount / 8) { return reason }
                doubtful &= doubtful &- 1
            }
            place += 8
        }
        while place < name.count {
            if let reason = objection(at: place) { return reason }
            place += 1
        }
        return Self.objection(toSegment: start..<name.count, of: name)
    }

    /// - Returns: the upper bit of each byte that is no more than `/`, a backslash or 0x7F, and of some others. Digits,
    ///   letters and what is beyond ASCII are most of all keys, and almost never among them. ("Bit Twiddling Hacks",
    ///   `hasless` and `haszero`: what they say is less or zero may also be a byte above one that is.)
    private static func doubtfulBytes(of word: UInt64) -> UInt64 {
        let (ones, upper) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let delete = word ^ (ones &* 0x7F)
        let low = (word &- ones &* 0x30) & ~word
        return (low | ((backslash &- ones) & ~backslash) | ((delete &- ones) & ~delete)) & upper
    }

    private static func objection(toSegment segment: Range<Int>, of name: UnsafeBufferPointer<UInt8>) -> String? {
        if segment.isEmpty { return "an empty name between two \"/\" is not allowed" }
        let isOfDots = segment.count < 3 && name[segment].allSatisfy { $0 == UInt8(ascii: ".") }
        return isOfDots ? "\".\" and \"..\" are not allowed" : nil
    }
}

/// A name from outside (a user, a profile, a key) that cannot stand in an object key.
package struct InvalidName: Error, Hashable, CustomStringConvertible {
    package let name: String
    package let reason: String

    package var description: String { "\"\(name.escapingControls)\" cannot be used in an object key: \(reason)" }
}

/// Where each kind of object lives, for one user. The table in docs/design.md, section 5, in code.
package struct KeyLayout: Hashable, Sendable {
    package let user: String

    /// - Throws: ``InvalidName`` when the user cannot be a segment of a key.
    package init(user: String) throws(InvalidName) {
        _ = try ObjectKey(segments: ["users", user])
        self.user = user
    }

    /// The content-addressed pool: one object per photo, however many names it has on the disk.
    package func photo(_ id: PhotoID) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "photos", "\(id).dat"])
    }

    /// The beginning of the keys of all photos in the pool.
    package var photos: String { "users/\(user)/photos/" }

    /// The beginning of the keys of all originals.
    package var originals: String { "users/\(user)/originals/" }

    /// A vacation's manifest.
    /// - Parameter cacheKey: `{location}_{start}_{end}_{count}`.
    package func vacation(_ cacheKey: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "vacations", "\(cacheKey).json"])
    }

    /// The photo of a gallery event that was archived.
    /// - Parameters:
    ///   - month: of the event's creation, in UTC.
    ///   - photo: of one whose key is another photo's already: that of an event with the same id, profile and month.
    package func archivedPhoto(
        profile: String, month: CalendarDay, event: String, besides photo: MD5Digest? = nil
    ) throws(InvalidName) -> ObjectKey {
        let day = month.description.split(separator: "-").map { String($0) }
        let name = photo.map { "\(event)-\("\($0)".prefix(8))" } ?? event
        return try ObjectKey(segments: ["gallery-archive", user, profile, day[0], day[1], "\(name).jpg"])
    }

    /// The beginning of all keys of archived photos.
    package var galleryArchive: String { "gallery-archive/\(user)/" }

    /// The beginnings of the keys of what the ledger records: archived photos, originals, photos, projects.
    package var recordedPrefixes: [String] { [galleryArchive, originals, photos, projects] }

    /// The beginnings of all keys that are this user's.
    package var ownPrefixes: [String] { ["users/\(user)/", "gallery-archive/\(user)/"] }

    /// The beginning of the keys of all files of projects folders.
    package var projects: String { "users/\(user)/projects/" }

    /// A file of a project, kept under its own name: `projects.json`, `{id}.jpg`, `{id}-metadata.json`.
    ///
    /// - Parameter relativePath: the path below the projects folder, `/`-separated.
    package func projectFile(_ relativePath: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey("\(projects)\(relativePath)")
    }

    /// The beginning of the keys of a project's earlier images.
    package func projectVersions(_ id: String) throws(InvalidName) -> String {
        try ObjectKey(segments: ["users", user, "projects", id, "versions"]).rawValue + "/"
    }
}

extension ObjectKey {
    /// Of the original, when this is a photo in the pool; `nil` for all others.
    package var original: ObjectKey? { sibling(of: "photos", in: "originals") }

    /// Of the stored copy, when this is an original; `nil` for all others.
    package var copyOfOriginal: ObjectKey? { sibling(of: "originals", in: "photos") }

    /// What catalogues and manifests call it: they name copies, and no originals.
    package var named: ObjectKey { copyOfOriginal ?? self }

    private func sibling(of folder: String, in other: String) -> ObjectKey? {
        let parts = segments
        guard parts.count == 4, parts[0] == "users", parts[2] == folder else { return nil }
        return try? ObjectKey(segments: [String(parts[0]), String(parts[1]), other, String(parts[3])])
    }
}
