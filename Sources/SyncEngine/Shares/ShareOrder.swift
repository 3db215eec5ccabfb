package import FoundationEssentials
package import SyncCore
package import SyncLedger

/// What a person wants to share.
package struct ShareOrder: Sendable {
    package var vacation: Vacation
    /// `nil`: all photos.
    package var selection: PhotoSelection?
    package var quality: ShareQuality
    /// `nil`: the name of an open share that is taken up again, else ``usualSharer``.
    package var sharedBy: String?
    package var usualSharer: String?
    /// Whoever shares wants no name told, whatever an open share tells.
    package var isAnonymous = false
    /// Whether others are told the names of the files; `nil`: as an open share does that is taken up again, else not.
    package var tellsNames: Bool?
    /// Whether others may add photos; `nil`: as with ``tellsNames``.
    package var takesGuests: Bool?
    /// `nil`: as long as an open share lasts that is taken up again, else as long as shares last.
    package var expiresAt: Date?

    package init(
        vacation: Vacation, selection: PhotoSelection? = nil, quality: ShareQuality = .reduced, sharedBy: String? = nil
    ) {
        self.vacation = vacation
        self.selection = selection
        self.quality = quality
        self.sharedBy = sharedBy
    }
}

/// What an order would come to. Nothing was sent or remembered.
package struct ShareProposal: Sendable {
    package struct Item: Hashable, Sendable {
        /// In the vacation, from 0.
        package let number: Int
        package let photo: VacationPhoto
        package let md5: MD5Digest
        /// `nil` for a photo.
        package let film: FilmType?
        /// Of what is to be shared, about.
        package let bytes: Int64
    }

    /// A photo that is left out.
    package struct Skipped: Hashable, Sendable {
        /// `nil` for one that is no photo of the vacation because it cannot be stored.
        package let number: Int?
        package let photo: VacationPhoto
        /// In plain words.
        package let reason: String

        /// For people: which one, and why.
        package var text: String { "\(photo.name.escapingControls): \(reason.escapingControls)" }
    }

    package enum Change: Hashable, Sendable {
        /// It was not shared yet.
        case new
        /// It is shared as it is now.
        case none
        /// A share that was not published yet goes on.
        case goesOn
        /// A share that is seen gets other photos or other words.
        case update(added: Int, removed: Int)
    }

    package let order: ShareOrder
    package let items: [Item]
    package let skipped: [Skipped]
    /// Those of the skipped that can be known to fail when they are sent. The share has them all the same, with the reason:
    /// nothing is new in a folder that has them.
    package let refused: [Skipped]
    /// The open share of the same.
    package let existing: ShareRecord?
    package let change: Change
    /// Stored copies that have to come back from the archive first.
    package let archived: [ObjectKey]
    /// What a person should know, in plain words.
    package let notes: [String]
    package let draft: ShareDraft

    package var bytes: Int64 { items.reduce(0) { $0 + $1.bytes } }
    package var expiresAt: Date { draft.expiresAt }

    /// Whether it was known before why a photo of the share could not be made ready.
    package func explains(_ photo: SharePhoto) -> Bool {
        photo.failure != nil && refused.contains { $0.photo.path == photo.path }
    }

    /// - Throws: ``ShareError/nothing(_:)`` when there is nothing that could be shared.
    package func requireSomething() throws(ShareError) {
        guard items.isEmpty, change != .none else { return }
        throw .nothing(skipped.map(\.text))
    }
}

/// Why something cannot be shared, or not now.
package enum ShareError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More photos than a share may have.
    case tooMany(Int, limit: Int)
    /// More bytes than a share may have.
    case tooLarge(Int64, limit: Int64)
    /// A number that no photo of the vacation has.
    case noSuchNumber(Int, photos: Int)
    /// None of the photos can be shared; why, in plain words.
    case nothing([String])
    /// Another process works on it.
    case inOtherHands(ShareID)
    /// It was revoked or has expired meanwhile.
    case over(ShareID)
    /// Another machine has it now.
    case takenOver(ShareID)
    /// It cannot be taken over: this machine shares the same photos of a folder of the same path.
    case sharedHere(ShareID)
    /// It cannot be taken over: it has no manifest.
    case unseen(ShareID)
    /// All that is stored was moved to another store since this process has opened this one.
    case storeMoved
    /// The bucket removes it earlier.
    case endsTooLate(days: Int, rule: Int)
    /// Nobody could send anything to the page of a share.
    case noGuests(ShareLinks.NoGuests)

    /// Whether some of the photos can be shared.
    package var asksToChoose: Bool {
        switch self {
        case .tooMany, .tooLarge: true
        default: false
        }
    }

    init(_ fate: ShareNotes.Fate, of id: ShareID) {
        self =
            switch fate {
            case .revoked: .over(id)
            case .takenOver: .takenOver(id)
            }
    }

    package var description: String {
        switch self {
        case .tooMany(let count, let limit):
            "these are \(count.counted("photo")), and a share has at most \(limit) (share.max_photos). Choose some by their numbers, "
                + "such as --photos 0-\(limit - 1); --dry-run lists them"
        case .tooLarge(let bytes, let limit):
            "these have \(bytes >> 30) GiB, and a share has at most \(limit >> 30) GiB. Choose some by their numbers, such as "
                + "--photos 0-9; --dry-run lists them"
        case .noSuchNumber(let number, let photos):
            photos == 1
                ? "there is no photo \(number); the only one is 0"
                : "there is no photo \(number); they are numbered from 0 to \(photos - 1), and --dry-run lists them"
        case .nothing(let reasons):
            "none of the photos can be shared" + (reasons.isEmpty ? "" : ":\n  " + reasons.joined(separator: "\n  "))
        case .inOtherHands(let id): "another process is at work on share \(id)"
        case .over(let id): "share \(id) was revoked or has expired meanwhile"
        case .takenOver(let id):
            "share \(id) was taken over by another machine, which goes on with it; sync-agent shares tells which"
        case .sharedHere(let id):
            "share \(id) has the same photos of the same folder as one of this machine's; revoke one of them with "
                + "sync-agent shares --revoke"
        case .storeMoved: "all that is stored was moved to another store meanwhile: begin again, with that one"
        case .unseen(let id):
            "share \(id) has no manifest in the store, so that nobody sees it. On its own machine, share the vacation again to "
                + "bring it back; or revoke it, and share the vacation from here"
        case .noGuests(let reason): "guests cannot add photos to this share: \(reason)"
        case .endsTooLate(let days, let rule):
            "a rule of the bucket removes shares after \(rule.counted("day")), and this one is to last \(days). Choose a shorter "
                + "--expires; or run sync-agent lifecycle apply, with share.expire_days raised where it is less"
        }
    }
}
