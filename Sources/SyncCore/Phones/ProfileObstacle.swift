/// Why what is of a profile waits, with the next step.
package enum ProfileObstacle: Error, Hashable, Sendable, CustomStringConvertible {
    case noProfile(PhoneNumber)
    /// ``ProfileIdentity/unreadNumber``
    case unread(region: String?)

    package var description: String {
        switch self {
        case .noProfile(let number): "no profile for \(number): add it with sync-agent profiles add"
        case .unread(region: nil):
            "its profile looks like a telephone number without its country: set share.phone_region, such as US, and it "
                + "is read; what is no number there is then taken for an id"
        case .unread:
            "its profile is written like a telephone number and cannot be read; begin it with + and the country code, "
                + "or correct share.phone_region"
        }
    }
}
