/// What a file is, told by its first bytes and not by its name.
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable {
        /// Reduced by the codec.
        case jpeg
        /// Another image: reduced where there is a decoder for it (``isPicture(_:)``), else stored unchanged.
        case image
        /// Stored unchanged.
        case video
        /// What goes with a photo, in a file of its own: stored unchanged.
        case sidecar
        /// None of them; only a projects folder stores such files.
        case other
    }

    package let kind: Kind
    /// As in `Content-Type`, e.g. `image/heic`.
    package let name: String

    package init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    package static let jpeg = MediaType(.jpeg, "image/jpeg")
    package static let jpegXL = MediaType(.image, "image/jxl")
    package static let json = MediaType(.other, "application/json")
    package static let xmp = MediaType(.sidecar, "application/rdf+xml")
    /// Edits of Apple's Photos: a property list.
    package static let aae = MediaType(.sidecar, "application/x-apple-aae")
    package static let unknown = MediaType(.other, "application/octet-stream")

    package var description: String { name }

    /// Cameras' raw files, by their `Content-Type`: what the sensor saw, and pictures of it.
    package static let rawNames: Set<String> = [
        "image/x-canon-crw", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-olympus-orf", "image/x-panasonic-rw2",
        "image/x-fuji-raf", "image/x-sigma-x3f", "image/x-minolta-mrw", "image/x-adobe-dng", "image/x-nikon-nef",
        "image/x-nikon-nrw", "image/x-sony-arw", "image/x-sony-srf", "image/x-sony-sr2", "image/x-pentax-pef",
        "image/x-samsung-srw", "image/x-hasselblad-3fr", "image/x-hasselblad-fff", "image/x-phaseone-iiq",
        "image/x-kodak-dcr", "image/x-kodak-kdc", "image/x-leica-rwl",
    ]
    private static let pictureNames: Set<String> = [
        "image/jpeg", "image/heic", "image/heif", "image/avif", "image/png", "image/webp", "image/tiff", "image/gif",
        "image/bmp",
    ]

    /// Whether pictures can be made of what has this `Content-Type`: smaller ones, and those that others get.
    package static func isPicture(_ name: String) -> Bool { pictureNames.contains(name) || rawNames.contains(name) }

    /// Whether it can be shared: pictures, and films of which all can be taken out that others should not see.
    package static func isShared(_ name: String) -> Bool { isPicture(name) || FilmType(contentType: name) != nil }

    private static let endings = [
        "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/heic": "heic", "image/heif": "heif",
        "image/avif": "avif", "image/tiff": "tiff", "image/bmp": "bmp", "video/mp4": "mp4", "video/quicktime": "mov",
        "application/rdf+xml": "xmp", "application/x-apple-aae": "aae",
    ]

    /// What the name of a file ends with that has this `Content-Type`: `jpg` where nothing else is known.
    package static func ending(ofContentType name: String?) -> String {
        name.flatMap { endings[$0] } ?? "jpg"
    }
}

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
