import Logging
import SyncConfig
import SyncCore
import SyncEngine

extension Notifiers {
    /// All ways that the configuration names, and the desktop where there is one.
    init(_ settings: NotifySettings, environment: [String: String], time: TimeSource, logger: Logger) {
        var ways: [any Notifier] = []
        if !settings.command.isEmpty {
            ways.append(CommandNotifier(words: settings.command, environment: environment))
        }
        if let webhook = settings.webhook { ways.append(WebhookNotifier(webhook, time: time)) }
        if let desktop = DesktopNotifier(environment: environment) { ways.append(desktop) }
        self.init(ways, logger: logger)
    }
}
