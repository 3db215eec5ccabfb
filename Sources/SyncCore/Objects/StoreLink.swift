package import FoundationEssentials

/// An address that lets whoever has it read one object.
package struct StoreLink: Hashable, Sendable {
    /// Absolute, percent-encoded. It is a secret while it lasts.
    package var url: String
    /// When it stops to work.
    package var endsAt: Date
    /// Why it ends earlier than was asked for, in plain words; `nil` when it does not.
    package var limit: String?

    package init(url: String, endsAt: Date, limit: String? = nil) {
        self.url = url
        self.endsAt = endsAt
        self.limit = limit
    }
}
