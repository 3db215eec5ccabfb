package import SyncCore

/// What is stored of a photo.
package struct PhotoSettings: Hashable, Sendable {
    package var reduce: ReducePolicy
    /// Store the untouched original too.
    package var keepOriginals: Bool
}

extension PhotoSettings {
    init(from reader: inout SettingsReader) {
        reduce = ReducePolicy(
            maximumDimension: reader.value(ConfigKeys.maximumDimension), quality: reader.value(ConfigKeys.quality),
            stripLocation: reader.value(ConfigKeys.stripLocation))
        keepOriginals = reader.value(ConfigKeys.keepOriginals)
    }
}
