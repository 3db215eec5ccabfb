package import SyncCore

extension KeyLayout {
    /// Of the user whom most tests have.
    package static let ana: KeyLayout = {
        guard let keys = try? KeyLayout(user: "ana") else { preconditionFailure("ana is a name") }
        return keys
    }()
}
