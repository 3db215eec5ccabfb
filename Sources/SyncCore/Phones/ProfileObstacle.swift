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
                + "is read; one that holds two numbers needs to have one"
        case .unread:
            "its profile is written like a telephone number and cannot be read as one; begin it with + and the country "
                + "code, leave out a second number, or correct share.phone_region"
        }
    }
}
