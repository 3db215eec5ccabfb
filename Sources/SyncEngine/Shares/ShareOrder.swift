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
    /// `nil`: as long as an open share lasts that is taken up again, else as long as shares last.
    package var expiresAt: Date?

    package init(
        vacation: Vacation, selection: PhotoSelection? = nil, quality: ShareQuality = .reduced,
        sharedBy: String? = nil, usualSharer: String? = nil, expiresAt: Date? = nil
    ) {
        self.vacation = vacation
        self.selection = selection
        self.quality = quality
        self.sharedBy = sharedBy
        self.usualSharer = usualSharer
        self.expiresAt = expiresAt
    }
}

/// What an order would come to. Nothing was sent or remembered.
package struct ShareProposal: Sendable {
    package struct Item: Hashable, Sendable {
        /// In the vacation, from 0.
        package let number: Int
        package let photo: VacationPhoto
        package let md5: MD5Digest
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
}
