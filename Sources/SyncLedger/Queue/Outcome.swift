package import FoundationEssentials
package import SyncCore

/// How the work on a claimed photo ended.
package enum Outcome: Hashable, Sendable {
    /// The store has proved that it holds the copy. The digest is that of the file; the object is as the store reports
    /// it, its storage class above all when it was there before.
    case uploaded(ContentDigest, ObjectRecord)
    /// The same file would fail again. The digest is the file's, where it was read.
    case failed(String, ContentDigest?)
    /// Nothing that this folder stores. What is left out although its owner may count on it has its ``LeftOut``.
    case skipped(String, LeftOut? = nil)
    /// It failed for now.
    case postponed(String, until: Date)
    /// It is not its turn yet, for a reason that is no failure: the attempt does not count, and nobody is told.
    case waits(String, until: Date)
    /// Given back untried: the attempt does not count.
    case released
    /// There was no file.
    case vanished

    /// As the history of attempts names it.
    var name: String {
        switch self {
        case .uploaded: "uploaded"
        case .failed: "failed"
        case .skipped: "skipped"
        case .postponed: "postponed"
        case .waits: "waits"
        case .released: "released"
        case .vanished: "vanished"
        }
    }

    /// Whether the photo stays where it is now until its file changes.
    package var isFinal: Bool {
        switch self {
        case .uploaded, .failed, .skipped: true
        case .postponed, .waits, .released, .vanished: false
        }
    }

    var message: String? {
        switch self {
        case .failed(let message, _), .skipped(let message, _), .postponed(let message, _), .waits(let message, _):
            message
        case .uploaded, .released, .vanished: nil
        }
    }
}
