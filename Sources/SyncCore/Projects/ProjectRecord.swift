package import FoundationEssentials
package import SystemPackage

/// One record of `projects.json`: a generated image, or one that is being made.
package struct ProjectRecord: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable, Codable {
        case processing = "Processing"
        case completed = "Completed"
        case failed = "Failed"
    }

    /// A project that has been processing for longer is no longer waited for.
    package static let patience = Duration.seconds(24 * 3_600)

    /// Also the name of its files: it can stand in a file name and in an object key.
    package var id: String
    package var templateID: String
    package var templateName: String
    package var thumbnailURL: String?
    package var createdAt: Date
    package var status: Status
    /// What the app asked for; two projects of one request are the same image.
    package var requestID: String?

    package init(
        id: String, templateID: String, templateName: String, thumbnailURL: String? = nil, createdAt: Date,
        status: Status, requestID: String? = nil
    ) {
        self.id = id
        self.templateID = templateID
        self.templateName = templateName
        self.thumbnailURL = thumbnailURL
        self.createdAt = createdAt
        self.status = status
        self.requestID = requestID
    }

    /// Whether it has been processing for longer than ``patience``.
    package func isGivenUp(at now: Date) -> Bool {
        status == .processing && .seconds(now.timeIntervalSince(createdAt)) > Self.patience
    }
}

/// A record as it stands in the file: either one that can be used, or the reason why not.
struct ReadProject: Decodable {
    let id: String?
    let result: Result<ProjectRecord, Unusable>
    /// What can be read of one that cannot be used; where nobody knows when it was created, that was in 1970.
    let draft: ProjectRecord?

    struct Unusable: Error {
        var reason: String
    }

    private enum Field: String, CodingKey {
        case id, templateId, templateName, thumbnailURL, createdAt, status, requestId
    }

    /// - Throws: what the decoder throws for bytes that are no JSON. What is wrong with the record is in `result`.
    init(from decoder: any Decoder) throws {
        guard let fields = try? decoder.container(keyedBy: Field.self) else {
            id = nil
            draft = nil
            result = .failure(Unusable(reason: "it is no object"))
            return
        }
        id = fields.text(.id)
        do throws(Unusable) {
            result = .success(try Self.record(fields))
            draft = nil
        } catch {
            result = .failure(error)
            draft = Self.draft(fields)
        }
    }

    private static func draft(_ fields: KeyedDecodingContainer<Field>) -> ProjectRecord {
        ProjectRecord(
            id: fields.text(.id) ?? "", templateID: fields.text(.templateId) ?? "",
            templateName: fields.text(.templateName) ?? "",
            createdAt: fields.moment(.createdAt) ?? Date(timeIntervalSince1970: 0),
            status: fields.text(.status).flatMap(status) ?? .failed, requestID: fields.text(.requestId))
    }

    private static func status(_ word: String) -> ProjectRecord.Status? {
        ProjectRecord.Status.allCases.first { $0.rawValue.lowercased() == word.lowercased() }
    }

    private static func record(_ fields: KeyedDecodingContainer<Field>) throws(Unusable) -> ProjectRecord {
        guard let id = fields.text(.id), !id.isEmpty else { throw Unusable(reason: "it has no id") }
        guard ProjectFileName.isUsable(id: id) else { throw Unusable(reason: "its id cannot be the name of a file") }
        guard let template = fields.text(.templateId) else { throw Unusable(reason: "it has no templateId") }
        guard let createdAt = fields.moment(.createdAt) else {
            throw Unusable(reason: "its createdAt is neither ISO 8601 nor a number of seconds or milliseconds")
        }
        guard let word = fields.text(.status) else { throw Unusable(reason: "it has no status") }
        guard let status = status(word) else {
            throw Unusable(reason: "its status is none of Processing, Completed and Failed")
        }
        return ProjectRecord(
            id: id, templateID: template, templateName: fields.text(.templateName) ?? "",
            thumbnailURL: fields.text(.thumbnailURL).flatMap { $0.isEmpty ? nil : $0 }, createdAt: createdAt,
            status: status, requestID: fields.text(.requestId).flatMap { $0.isEmpty ? nil : $0 })
    }
}

extension KeyedDecodingContainer {
    /// A text, or a whole number as one.
    fileprivate func text(_ key: Key) -> String? {
        if let text = try? decode(String.self, forKey: key) { return text }
        return (try? decode(Int64.self, forKey: key)).map { String($0) }
    }

    /// ISO 8601, or a number: of milliseconds since 1970 when it is large, of seconds since 1970, or of seconds since 2001,
    /// as Swift's JSONEncoder writes dates by itself. No image was generated before 2010, so that the numbers do not meet.
    fileprivate func moment(_ key: Key) -> Date? {
        if let text = try? decode(String.self, forKey: key) {
            return Date(iso8601: text) ?? Double(text).flatMap { Date(counted: $0) }
        }
        return (try? decode(Double.self, forKey: key)).flatMap { Date(counted: $0) }
    }
}

extension Date {
    private static let year2010 = 1_262_304_000.0

    fileprivate init?(iso8601 text: String) {
        let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? Date(text, strategy: withFraction)) ?? (try? Date(text, strategy: .iso8601)) else {
            return nil
        }
        self = date
    }

    fileprivate init?(counted number: Double) {
        guard number.isFinite, number >= 0, number < 1e14 else { return nil }
        switch number {
        case ..<Self.year2010: self.init(timeIntervalSinceReferenceDate: number)
        case ..<1e11: self.init(timeIntervalSince1970: number)
        default: self.init(timeIntervalSince1970: number / 1_000)
        }
    }
}

/// What a file directly in a projects folder is, by its name.
package enum ProjectFileName: Hashable, Sendable {
    /// `projects.json`: the list of all projects.
    case list
    /// `{id}.jpg`, or another kind of image under the id of a project.
    case image(id: String)
    /// `{id}-metadata.json`
    case metadata(id: String)
    case other

    package static let listName = "projects.json"

    package static func == (left: ProjectFileName, right: ProjectFileName) -> Bool {
        switch (left, right) {
        case (.list, .list), (.other, .other): true
        case (.image(let one), .image(let other)), (.metadata(let one), .metadata(let other)):
            one.inBytes == other.inBytes
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id?.inBytes)
    }

    package static let metadataEnding = "-metadata.json"
    private static let imageExtensions: Set<String> = [
        "jpg", "jpeg", "png", "heic", "heif", "webp", "gif", "tif", "tiff",
    ]

    package init(_ name: String) {
        if name == Self.listName {
            self = .list
        } else if name.lowercased().hasSuffix(Self.metadataEnding), name.utf8.count > Self.metadataEnding.utf8.count {
            self = .metadata(id: String(name.dropLast(Self.metadataEnding.count)))
        } else if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            Self.imageExtensions.contains(name[name.index(after: dot)...].lowercased())
        {
            self = .image(id: String(name[..<dot]))
        } else {
            self = .other
        }
    }

    /// - Parameter relativePath: below the projects folder. A file in a folder below it is no project's.
    package init(below relativePath: FilePath) {
        self = relativePath.components.count == 1 ? Self(relativePath.string) : .other
    }

    /// Whose file it is.
    package var id: String? {
        switch self {
        case .image(let id), .metadata(let id): id
        case .list, .other: nil
        }
    }

    /// Whether an id can be the name of a file and a segment of a key, here and on other systems.
    static func isUsable(id: String) -> Bool {
        id.utf8.count <= 200 && !id.hasPrefix(".") && !id.hasPrefix("~") && !id.contains("/")
            && (try? ObjectKey(segments: [id])) != nil
    }
}
