package import SyncCore

/// What is stored of a photo.
package struct PhotoSettings: Hashable, Sendable {
    package var reduce: ReducePolicy
}

extension PhotoSettings {
    init(from reader: inout SettingsReader) {
        reduce = ReducePolicy(
            maximumDimension: reader.value(ConfigKeys.maximumDimension), quality: reader.value(ConfigKeys.quality),
            stripLocation: reader.value(ConfigKeys.stripLocation))
    }
}
