/// The pace of the work.
package struct UploadSettings: Hashable, Sendable {
    /// Objects in flight.
    package var batchSize: Int
    /// How long a file has to be quiet.
    package var settle: Duration
    /// Time between two scans of everything.
    package var rescan: Duration
    /// Bytes a second, for all uploads together; `nil` for no limit.
    package var bandwidthLimit: Int?
}

extension UploadSettings {
    init(from reader: inout SettingsReader) {
        batchSize = reader.value(ConfigKeys.batchSize)
        settle = reader.value(ConfigKeys.settle)
        rescan = reader.value(ConfigKeys.rescan)
        bandwidthLimit = reader.value(ConfigKeys.bandwidthLimit)
    }
}
