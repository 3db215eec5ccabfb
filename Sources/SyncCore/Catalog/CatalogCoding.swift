package import FoundationEssentials
import SystemPackage

/// Makes lines of the catalogue, and reads them. Each line is one JSON object, with its fields in the order of their names.
///
/// A photo's key is left out where it follows from the user and the MD5, and its type where that is JPEG.
package struct CatalogCoding: Sendable {
    private let keys: KeyLayout

    package init(keys: KeyLayout) {
        self.keys = keys
    }

    /// - Returns: with the newline.
    package func data(_ line: CatalogLine) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let data: Data =
            switch line {
            case .header(let header): try encoder.encode(header)
            case .folder(let folder): try encoder.encode(folder)
            case .photo(let photo): try encoder.encode(wire(photo))
            case .gone(let place): try encoder.encode(WirePhoto(gone: place))
            case .state: try encoder.encode(["state": true])
            case .vacation(let vacation): try encoder.encode(vacation)
            case .share(let share): try encoder.encode(share)
            case .restore(let restore): try encoder.encode(restore)
            case .profile(let profile): try encoder.encode(profile)
            case .end(let count): try encoder.encode(["end": count])
            case .unknown: Data("{}".utf8)
            }
        return data + [UInt8(ascii: "\n")]
    }

    /// - Parameter line: without the newline.
    /// - Returns: `unknown` for an object that is none of ours; `nil` for what is no JSON object, or lacks what it needs.
    package func line(_ line: Data) -> CatalogLine? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        // Most lines are photos.
        guard let wire = try? decoder.decode(WirePhoto.self, from: line) else { return nil }
        do {
            if let folder = wire.f, let path = wire.p {
                guard path.path.isBelowAnyFolder else { return nil }
                let place = CatalogPlace(folder: folder, path: path.path)
                return wire.gone == true ? .gone(place) : try photo(wire, at: place).map(CatalogLine.photo)
            }
            if let count = wire.end?.count { return .end(count) }
            switch wire {
            case _ where wire.catalog != nil: return .header(try decoder.decode(CatalogHeader.self, from: line))
            case _ where wire.folder != nil:
                let folder = try decoder.decode(CatalogFolder.self, from: line)
                return folder.path.path.isAbsolute ? .folder(folder) : nil
            case _ where wire.share != nil:
                let share = try decoder.decode(CatalogShare.self, from: line)
                return share.isPossible ? .share(share) : nil
            case _ where wire.restore != nil:
                let restore = try decoder.decode(CatalogRestore.self, from: line)
                return restore.isPossible ? .restore(restore) : nil
            case _ where wire.vacation != nil:
                let vacation = try decoder.decode(CatalogVacation.self, from: line)
                let isPossible = vacation.vacation.path.isBelowAnyFolder && vacation.storedAt.isTime
                return isPossible ? .vacation(vacation) : nil
            case _ where wire.profile != nil: return .profile(try decoder.decode(CatalogProfile.self, from: line))
            case _ where wire.state?.isMark == true: return .state
            default: return .unknown
            }
        } catch {
            return nil
        }
    }

    private func wire(_ photo: CatalogPhoto) -> WirePhoto {
        var wire = WirePhoto()
        wire.f = photo.place.folder
        wire.p = CatalogPath(photo.place.path)
        wire.s = photo.file?.size
        wire.t = photo.file?.modified
        wire.md5 = photo.md5.map { "\($0)" }
        if derivedKey(photo.md5) != photo.key { wire.key = photo.key.rawValue }
        wire.sha256 = photo.sha256.map { "\($0)" }
        wire.b = photo.size
        if photo.contentType != MediaType.jpeg.name { wire.type = photo.contentType }
        wire.at = photo.takenAt?.description
        wire.w = photo.width
        wire.h = photo.height
        wire.ms = photo.duration?.inMilliseconds
        wire.drive = photo.drive?.text
        return wire
    }

    private func photo(_ wire: WirePhoto, at place: CatalogPlace) throws -> CatalogPhoto? {
        let md5 = wire.md5.flatMap { MD5Digest(hex: $0) }
        guard let key = try wire.key.map({ try ObjectKey($0) }) ?? derivedKey(md5), let size = wire.b,
            ObjectInfo.sizes.contains(size), wire.s.isSize
        else { return nil }
        var file: CatalogPhoto.File?
        if let size = wire.s, let modified = wire.t { file = CatalogPhoto.File(size: size, modified: modified) }
        return CatalogPhoto(
            place: place, file: file, md5: md5, key: key, sha256: wire.sha256.flatMap { SHA256Digest(hex: $0) },
            size: size, contentType: wire.type ?? MediaType.jpeg.name, takenAt: wire.at.flatMap { CaptureTime($0) },
            width: wire.w, height: wire.h, duration: wire.ms.flatMap { Duration(filmMilliseconds: $0) },
            drive: wire.drive.flatMap { DriveIdentity(text: $0) })
    }

    private func derivedKey(_ md5: MD5Digest?) -> ObjectKey? {
        md5.flatMap { try? keys.photo(PhotoID($0)) }
    }
}

/// Whether numbers can be what they stand for. Others write catalogues, and what is read of them is reckoned with.
extension CatalogShare {
    fileprivate var isPossible: Bool {
        let times: [Int64?] = [createdAt, expiresAt, publishedAt, pageWrittenAt, linksEndAt, endedAt]
        return times.allSatisfy(\.isTime) && photos.allSatisfy { $0.storedAt.isTime && $0.size.isSize }
    }
}

extension CatalogRestore {
    private static let mostDays = 100_000

    fileprivate var isPossible: Bool {
        let times: [Int64?] = [requestedAt] + items.flatMap { [$0.requestedAt, $0.readyAt, $0.expiresAt] }
        return (0...Self.mostDays).contains(days) && times.allSatisfy(\.isTime)
            && items.allSatisfy { ObjectInfo.sizes.contains($0.size) }
    }
}

extension Int64? {
    /// Of milliseconds since 1970: whether they are of the years 0 to 9999, as all that can be written as a date.
    fileprivate var isTime: Bool {
        guard let self else { return true }
        return (-62_167_219_200_000...253_402_300_799_999).contains(self)
    }

    /// Of bytes: whether an object or a file can have so many. They are added later.
    fileprivate var isSize: Bool { map { ObjectInfo.sizes.contains($0) } ?? true }
}

/// All fields that tell one kind of line from another, and those of a photo.
private struct WirePhoto: Codable {
    /// The number of a folder.
    var f: Int64?
    /// Below the folder.
    var p: CatalogPath?
    var gone: Bool?
    /// Of the file.
    var s: Int64?
    var t: Int64?
    var md5: String?
    var key: String?
    /// Of the stored bytes, and how many there are.
    var sha256: String?
    var b: Int64?
    var type: String?
    var at: String?
    var w: Int?
    var h: Int?
    /// How long a film lasts.
    var ms: Int64?
    /// As ``DriveIdentity/text``.
    var drive: String?

    var catalog: Int?
    var folder: Int64?
    var share: String?
    var restore: Int64?
    var vacation: CatalogPath?
    var profile: String?
    var state: Mark?
    var end: Mark?

    init() {}

    init(gone place: CatalogPlace) {
        f = place.folder
        p = CatalogPath(place.path)
        gone = true
    }
}

/// `state` and `end` are words in other lines.
private enum Mark: Codable {
    case mark(Bool)
    case number(Int)
    case other

    var isMark: Bool { if case .mark(true) = self { true } else { false } }
    var count: Int? { if case .number(let count) = self { count } else { nil } }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let isMark = try? container.decode(Bool.self) {
            self = .mark(isMark)
        } else if let count = try? container.decode(Int.self) {
            self = .number(count)
        } else {
            self = .other
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .mark(let isMark): try container.encode(isMark)
        case .number(let count): try container.encode(count)
        case .other: try container.encodeNil()
        }
    }
}
