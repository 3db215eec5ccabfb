package import FoundationEssentials

/// When gallery events are archived, and their text deleted.
package struct RetentionSettings: Hashable, Sendable {
    package var eventDays: Int
    /// Events in one pass.
    package var batchSize: Int
    /// Of the daily pass, in ``timeZone``.
    package var at: TimeOfDay
    package var timeZone: TimeZone
    /// Whether the title of an event stays with its archived photo.
    package var keepTitles: Bool
}

extension RetentionSettings {
    init(from reader: inout SettingsReader) {
        eventDays = reader.value(ConfigKeys.eventDays)
        batchSize = reader.value(ConfigKeys.retentionBatch)
        at = reader.value(ConfigKeys.retentionTime)
        timeZone = reader.value(ConfigKeys.retentionZone)
        keepTitles = reader.value(ConfigKeys.keepTitles)
    }
}
