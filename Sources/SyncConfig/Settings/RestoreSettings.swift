package import SyncCore

/// How archived photos come back.
package struct RestoreSettings: Hashable, Sendable {
    /// How long the copy stays.
    package var days: Int
    package var tier: RestoreTier
    package var poll: Duration
    /// US dollars; `nil` for no limit.
    package var maximumCostUSD: Double?
}

extension RestoreSettings {
    init(from reader: inout SettingsReader) {
        days = reader.value(ConfigKeys.restoreDays)
        tier = reader.value(ConfigKeys.restoreTier)
        poll = reader.value(ConfigKeys.restorePoll)
        maximumCostUSD = reader.value(ConfigKeys.maximumCost)
    }
}
