package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// One photo taken from the queue: whoever holds it works on that file, as it was then, and commits the outcome.
package struct Claim: Hashable, Sendable {
    package let photoID: Int64
    package let attemptID: Int64
    /// The generation of the file that was claimed. When it changes meanwhile, ``Ledger/commit(_:outcome:at:)`` sees it.
    package let generation: Int64
    package let folder: FolderRecord
    /// Below the folder.
    package let relativePath: FilePath
    /// The file as intake saw it.
    package let stamp: FileStamp
    /// The number of this attempt at this content of the file, from 1.
    package let attempts: Int
    /// Whether an agent has ended uncleanly while it had this photo in hand.
    package let isSuspect: Bool
    /// Whether something is stored of it, of this content or an earlier one, whole or not.
    package let hasObject: Bool
    /// Whether the file counts as a copy of a photo that was found on another drive: of other content, nothing is stored.
    package let mustBeCopy: Bool

    /// Absolute.
    package var file: FilePath { folder.path.pushing(relativePath) }
}

/// How many photos are claimed in one transaction. One that is large is claimed by itself; small ones together, since a
/// transaction for each would take longer than all else that is done for them.
package struct ClaimGroup: Hashable, Sendable {
    package static let ofOne = ClaimGroup(files: 1, bytes: 0)
    package static let ofSmall = ClaimGroup(files: 64, bytes: 512 << 10)

    let files: Int
    /// In all, where there is more than one file.
    let bytes: Int64

    /// The first ones, in their order: none is passed over.
    func prefix(of due: [Due]) -> ArraySlice<Due> {
        var bytes: Int64 = 0
        let end = due.indices.first { index in
            bytes += due[index].size
            return index >= files || (index > 0 && bytes > self.bytes)
        }
        return due[..<(end ?? due.endIndex)]
    }
}

/// What the queue has for whoever has room for photos.
package enum NextClaim: Hashable, Sendable {
    /// At least one.
    case photos([Claim])
    /// Nothing is due before this moment; `nil` when nothing is pending.
    case nothing(until: Date?)
}

/// The end of the work on a claimed photo, as it is noted.
package struct ClaimEnding: Sendable {
    package let claim: Claim
    package let outcome: Outcome
    /// What a file of gallery events holds; `nil` for other files.
    package let note: EventFileNote?
    /// What went to the store for it.
    package let sent: SentCount
    /// What the store had against it, when it is to be tried again.
    package let refusal: StoreError.Code?
    package let time: Date

    package init(
        _ claim: Claim, _ outcome: Outcome, note: EventFileNote? = nil, sent: SentCount = SentCount(),
        refusal: StoreError.Code? = nil, at time: Date
    ) {
        self.claim = claim
        self.outcome = outcome
        self.note = note
        self.sent = sent
        self.refusal = refusal
        self.time = time
    }
}

/// How the work on a claimed photo ended.
package enum Outcome: Hashable, Sendable {
    /// The store has proved that it holds the copy. The digest is that of the file; the object is as the store reports
    /// it, its storage class above all when it was there before.
    case uploaded(ContentDigest, ObjectRecord)
    /// The same file would fail again. The digest is the file's, where it was read.
    case failed(String, ContentDigest?)
    /// Nothing that this folder stores. What is left out although its owner may count on it has its ``LeftOut``.
    case skipped(String, LeftOut? = nil)
    /// It counted as a copy of a photo of another drive, and is another one. Nothing is stored of it.
    case otherPhoto(String)
    /// It counted as a copy of a photo of another drive, and was gone before it was read.
    case copyGone
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
        case .otherPhoto: "other photo"
        case .copyGone: "copy gone"
        case .postponed: "postponed"
        case .waits: "waits"
        case .released: "released"
        case .vanished: "vanished"
        }
    }

    /// Whether the photo stays where it is now until its file changes.
    package var isFinal: Bool {
        switch self {
        case .uploaded, .failed, .skipped, .otherPhoto: true
        case .copyGone, .postponed, .waits, .released, .vanished: false
        }
    }

    /// The same of a file that counts as a copy of a stored photo (``Claim/mustBeCopy``). One of which nothing is to be
    /// stored, as it is cut, or no photo at all, is none: the photo is what it was.
    var ofSupposedCopy: Outcome {
        switch self {
        case .failed(let message, _), .skipped(let message, _):
            .otherPhoto("\(message); the photo of this name that was found on another drive is stored as it was")
        case .uploaded, .otherPhoto, .copyGone, .postponed, .waits, .released, .vanished: self
        }
    }

    var message: String? {
        switch self {
        case .failed(let message, _), .skipped(let message, _), .postponed(let message, _), .waits(let message, _),
            .otherPhoto(let message):
            message
        case .uploaded, .copyGone, .released, .vanished: nil
        }
    }
}
