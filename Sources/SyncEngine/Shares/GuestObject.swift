import FoundationEssentials
import SyncCore

/// What a guest has sent, as a listing shows it. What comes to its key later is another one.
struct GuestObject: Hashable, Sendable {
    let key: ObjectKey
    /// What tells it from all others of the share, and is noted of a photo.
    let source: String

    init(_ object: ObjectInfo) {
        key = object.key
        let marks: [String?] = [
            object.etag, object.sha256?.description, object.md5?.description,
            object.modified.map { "\($0.timeIntervalSince1970)" },
        ]
        source = "\(object.key.lastSegment) \(object.size) \(marks.compactMap(\.self).first ?? "")"
    }

    /// One that the store cannot look at.
    init(_ problem: ObjectProblem) {
        key = problem.key
        source = "\(problem.key.lastSegment) unreadable"
    }

    /// `nil` where no page puts anything.
    func slot(in share: ShareID) -> Int? {
        ShareKeys(share).guestSlot(of: key).flatMap { $0 < GuestRules.mostPhotos ? $0 : nil }
    }
}
