/// The containers in which films are shared, as `Content-Type` has them.
package enum FilmType: String, Hashable, Sendable, Codable, CaseIterable {
    case mp4 = "video/mp4"
    case quickTime = "video/quicktime"

    /// `nil` for other types, of which nothing can be taken out. What MP4 is the base of counts as MP4.
    package init?(contentType: String) {
        switch contentType {
        case "video/mp4", "video/x-m4v", "video/3gpp", "video/3gpp2": self = .mp4
        case "video/quicktime": self = .quickTime
        default: return nil
        }
    }

    /// What names end with.
    package var ending: String { self == .mp4 ? "mp4" : "mov" }

    package var mediaType: MediaType { MediaType(.video, rawValue) }
}
