import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncSystem

extension Notifiers {
    /// All ways that the configuration names, and the desktop where there is one.
    init(
        _ settings: NotifySettings, environment: [String: String], pool: BlockingPool, time: TimeSource, logger: Logger
    ) {
        var ways: [any Notifier] = []
        if !settings.command.isEmpty {
            ways.append(CommandNotifier(words: settings.command, environment: environment, pool: pool))
        }
        if let webhook = settings.webhook { ways.append(WebhookNotifier(webhook, time: time)) }
        if let desktop = DesktopNotifier(environment: environment, pool: pool) { ways.append(desktop) }
        self.init(ways, logger: logger)
    }
}
