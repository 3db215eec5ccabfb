package import SyncCore
import SyncLedger

/// Why something cannot be shared, or not now.
package enum ShareError: Error, Hashable, Sendable {
    /// More photos than a share may have.
    case tooMany(Int, limit: Int)
    /// A number that no photo of the vacation has.
    case noSuchNumber(Int, photos: Int)
    /// None of the photos can be shared; why, in plain words.
    case nothing([String])
    /// Another process works on it.
    case inOtherHands(ShareID)
    /// It was revoked or has expired meanwhile.
    case over(ShareID)
    /// The bucket removes it earlier.
    case endsTooLate(days: Int, rule: Int)
}

extension ShareError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooMany(let count, let limit):
            "these are \(count.counted("photo")), and a share has at most \(limit) (share.max_photos). Choose some by their numbers, "
                + "such as --photos 0-\(limit - 1); --dry-run lists them"
        case .noSuchNumber(let number, let photos):
            photos == 1
                ? "there is no photo \(number); the only one is 0"
                : "there is no photo \(number); they are numbered from 0 to \(photos - 1), and --dry-run lists them"
        case .nothing(let reasons):
            "none of the photos can be shared" + (reasons.isEmpty ? "" : ":\n  " + reasons.joined(separator: "\n  "))
        case .inOtherHands(let id): "another process is at work on share \(id)"
        case .over(let id): "share \(id) was revoked or has expired meanwhile"
        case .endsTooLate(let days, let rule):
            "a rule of the bucket removes shares after \(rule.counted("day")), and this one is to last \(days). Choose a shorter "
                + "--expires; or run sync-agent lifecycle apply, with share.expire_days raised where it is less"
        }
    }
}
