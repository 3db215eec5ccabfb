import FoundationEssentials
import SyncCore
import SyncLedger

extension GuestObject {
    /// As a listing shows it.
    init(_ object: ObjectInfo) {
        let marks: [String?] = [
            object.etag, object.sha256?.description, object.md5?.description,
            object.modified.map { "\($0.timeIntervalSince1970)" },
        ]
        self.init(key: object.key, mark: "\(object.size) \(marks.compactMap(\.self).first ?? "")")
    }

    /// One that the store cannot look at.
    init(_ problem: ObjectProblem) { self.init(key: problem.key, mark: "unreadable") }

    /// `nil` where no page puts anything.
    func slot(in share: ShareID) -> Int? {
        ShareKeys(share).guestSlot(of: key).flatMap { $0 < GuestRules.mostPhotos ? $0 : nil }
    }
}
