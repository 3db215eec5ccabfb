package import FoundationEssentials

/// What is to become of a project's image and metadata.
package enum ProjectVerdict: Hashable, Sendable {
    case store
    /// It is still being made: stored as soon as the image is whole.
    case storeWhenWhole
    /// It has been in the making for longer than ``ProjectRecord/patience``.
    case giveUp
    case failed
    /// Of the project with this id.
    case duplicate(of: String)
    /// Somebody has asked for it to be deleted.
    case deleting

    package init(_ record: ProjectRecord, duplicateOf original: String?, isDeleting: Bool, at now: Date) {
        self =
            if isDeleting {
                .deleting
            } else if let original {
                .duplicate(of: original)
            } else {
                switch record.status {
                case .completed: .store
                case .processing: record.isGivenUp(at: now) ? .giveUp : .storeWhenWhole
                case .failed: .failed
                }
            }
    }

    /// Why a file is not stored that belongs to no project. It is skipped until it does.
    package static let noRecord = "no record in projects.json"
    /// Why an image waits whose project is in the making. As long as it does, nothing is amiss.
    package static let unfinished = "its project is still processing, and the image is not whole yet"

    /// As what its image is left out; `nil` when it is stored, or is about to be removed.
    package var leftOut: LeftOut? {
        switch self {
        case .store, .storeWhenWhole, .deleting: nil
        case .giveUp: .dropped
        case .failed: .failed
        case .duplicate: .duplicate
        }
    }

    /// Why nothing is stored of it, in plain words; `nil` when it is stored.
    package var reason: String? {
        switch self {
        case .store, .storeWhenWhole: nil
        case .giveUp: "its project has been processing for more than 24 h; it is stored when that changes"
        case .failed: "its project failed; failed projects are not stored"
        case .duplicate(let original): Self.duplicateOf + original.escapingControls
        case .deleting: "its project is being deleted"
        }
    }

    private static let duplicateOf = "a duplicate of project "

    /// Whether a file was left out because of its project, and not for what it is.
    package static func isReason(_ text: String) -> Bool {
        text == noRecord || text.hasPrefix(duplicateOf)
            || [Self.giveUp, .failed, .deleting].contains { $0.reason == text }
    }
}
