package import SyncCore

/// When photos move to the archive.
package struct TierSettings: Hashable, Sendable {
    package var mode: TierMode
    /// 0: at the next pass.
    package var archiveAfterDays: Int
    package var minimumArchiveBytes: Int
}

extension TierSettings {
    init(from reader: inout SettingsReader) {
        mode = reader.value(ConfigKeys.tierMode)
        archiveAfterDays = reader.value(ConfigKeys.archiveAfterDays)
        minimumArchiveBytes = reader.value(ConfigKeys.minimumArchiveBytes)
    }
}
