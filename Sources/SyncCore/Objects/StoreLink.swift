package import FoundationEssentials

/// An address that lets whoever has it read one object.
package struct StoreLink: Hashable, Sendable {
    /// Absolute, percent-encoded. It is a secret while it lasts.
    package var url: String
    /// When it stops to work; where nobody knows (``isEndKnown``), until when it is relied on.
    package var endsAt: Date
    /// `false` where it was signed by credentials that are temporary and do not tell their end.
    package var isEndKnown: Bool
    /// Why it ends earlier than was asked for, in plain words; `nil` when it does not.
    package var limit: String?

    package init(url: String, endsAt: Date, limit: String? = nil, isEndKnown: Bool = true) {
        self.url = url
        self.isEndKnown = isEndKnown
        self.endsAt = endsAt
        self.limit = limit
    }
}
