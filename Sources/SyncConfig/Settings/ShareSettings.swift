package import FoundationEssentials

/// The bounds of a share.
package struct ShareSettings: Hashable, Sendable {
    package var maximumPhotos: Int
    package var expireDays: Int
    /// Where everybody can read the shares; `nil` when links have to be signed.
    package var publicBaseURL: URL?
    /// Two letters (ISO 3166-1): whose telephone numbers need no country code.
    package var phoneRegion: String?
}

extension ShareSettings {
    init(from reader: inout SettingsReader) {
        maximumPhotos = reader.value(ConfigKeys.sharePhotos)
        expireDays = reader.value(ConfigKeys.shareDays)
        publicBaseURL = reader.value(ConfigKeys.shareBaseURL)
        phoneRegion = reader.value(ConfigKeys.shareRegion)
    }
}
