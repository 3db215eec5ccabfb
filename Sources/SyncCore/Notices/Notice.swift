package import FoundationEssentials

/// News for people, in words, with the facts behind them for programs.
package struct Notice: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// Archived photos can be read again, or have been downloaded.
        case restoreReady
        /// Some photos of a restore cannot be brought back.
        case restoreFailed
        /// Restored photos go back to the archive soon.
        case restoreExpiring
        /// A share that had to wait can be seen.
        case shareLive
        /// A share ends soon, or has ended.
        case shareEnds
        /// Guests have sent photos to a share, which wait for its owner's word.
        case guestPhotos
        // Of the rest, each is told when it begins, and when it is over.
        /// Photos cannot be stored as they are.
        case photoFailed
        /// The store cannot be used.
        case storeAway
        /// The last cleanup could not delete some old gallery events.
        case retentionFailed
        /// Gallery events should have been deleted by now.
        case eventsOverdue
        /// What is stored is damaged or gone, or photos are lost.
        case damageFound
        /// There is hardly room on a disk that the agent needs.
        case diskFull
    }

    package var kind: Kind
    /// A few words, without a full stop.
    package var title: String
    /// One or two sentences. Names of files stand in it as they are: who shows it, escapes them.
    package var message: String
    /// By camelCase names, such as `jobId`.
    package var facts: [String: String]
    package var at: Date

    package init(_ kind: Kind, title: String, message: String, facts: [String: String] = [:], at: Date) {
        self.kind = kind
        self.title = title
        self.message = message
        self.facts = facts
        self.at = at
    }

    /// Where the gallery tells more of it: below its address, which ends in a slash.
    package var page: String {
        switch kind {
        case .restoreReady, .restoreFailed, .restoreExpiring: facts["jobId"].map { "restores/\($0)" } ?? "restores"
        case .shareLive, .shareEnds, .guestPhotos: facts["shareId"].map { "shares/\($0)" } ?? "shares"
        case .photoFailed: "?state=failed"
        case .storeAway, .retentionFailed, .eventsOverdue, .damageFound, .diskFull: "status"
        }
    }

    /// The same with the page's address in its message, and as the fact `page`.
    /// - Parameter gallery: its address, with a slash at the end.
    package func linked(to gallery: String) -> Notice {
        var notice = self
        notice.message += " \(gallery)\(page)"
        notice.facts["page"] = gallery + page
        return notice
    }
}

/// A way to tell people what happened. What stands in a notice is data: no adapter lets any of it be taken for a command,
/// an option or markup.
package protocol Notifier: Sendable {
    /// Tells it once, and returns when it was handed over.
    /// - Throws: an error that says what to do and holds no secret; `CancellationError`.
    func deliver(_ notice: Notice) async throws
}

extension Int {
    /// The one place that counts words: `1 photo`, `3 photos`. A verb that goes with the number belongs to both forms:
    /// `counted("photo is", "photos are")`.
    /// - Parameters:
    ///   - many: `nil` for what gets an "s".
    ///   - digits: the number as it is shown; `nil` for its plain digits.
    package func counted(_ one: String, _ many: String? = nil, as digits: String? = nil) -> String {
        "\(digits ?? "\(self)") \(self == 1 ? one : many ?? one + "s")"
    }
}
