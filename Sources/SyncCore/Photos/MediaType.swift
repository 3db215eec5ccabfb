/// What a file is, told by its first bytes and not by its name.
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable {
        /// Reduced by the codec.
        case jpeg
        /// Another image: stored unchanged.
        case image
        /// Stored unchanged.
        case video
        /// Neither; only a projects folder stores such files.
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
    package static let json = MediaType(.other, "application/json")
    package static let unknown = MediaType(.other, "application/octet-stream")

    package var description: String { name }

    private static let endings = [
        "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/heic": "heic", "image/heif": "heif",
        "image/avif": "avif", "image/tiff": "tiff", "image/bmp": "bmp", "video/mp4": "mp4", "video/quicktime": "mov",
    ]

    /// What the name of a file ends with that has this `Content-Type`: `jpg` where nothing else is known.
    package static func ending(ofContentType name: String?) -> String {
        name.flatMap { endings[$0] } ?? "jpg"
    }
}
