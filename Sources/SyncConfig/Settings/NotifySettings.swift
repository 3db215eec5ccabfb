package import FoundationEssentials

/// Who is told of restores that are ready, have failed, or end soon.
package struct NotifySettings: Hashable, Sendable {
    /// Program and arguments; empty for none.
    package var command: [String]
    package var webhook: SecretURL?
}

/// An address that is a secret: whoever knows it can use it. Printing it, or what holds it, does not tell it.
package struct SecretURL: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address itself, for the request.
    package let revealed: URL

    package init(_ url: URL) {
        self.revealed = url
    }

    package var description: String { "(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension NotifySettings {
    init(from reader: inout SettingsReader) {
        command = reader.value(ConfigKeys.notifyCommand)
        webhook = reader.value(ConfigKeys.notifyWebhook).map(SecretURL.init)
    }
}
