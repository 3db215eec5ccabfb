package import FoundationEssentials

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
