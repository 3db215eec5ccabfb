/// What a photo's file has and its stored copy has not. The ledger and `status --json` know them by these names.
package enum DroppedPart: String, Hashable, Sendable, CaseIterable {
    /// XMP: ratings, edits, captions.
    case xmp
    /// EXIF that is too damaged to be corrected.
    case exif
    case makerNote
    /// IPTC: captions, credits, names of places.
    case iptc
    /// A comment or another text beside the picture.
    case comment
    /// The brightness of an HDR picture.
    case gainMap
    /// Another picture behind the first one: a depth map, the other eye, the picture before an effect.
    case secondPicture
    /// A film behind the picture.
    case motion
    /// What cameras and programs write beside the picture, in segments or chunks of their own: signed credentials, edits,
    /// data of the lens.
    case applicationData
    /// Bytes behind the picture's end that are none of these: a text, another file.
    case trailer
    /// Where it was taken; with `strip_location`.
    case position

    /// In plain words, for people.
    package var words: String {
        switch self {
        case .xmp: "XMP"
        case .exif: "EXIF"
        case .makerNote: "maker note"
        case .iptc: "IPTC"
        case .comment: "comment"
        case .gainMap: "gain map"
        case .secondPicture: "second picture"
        case .motion: "motion"
        case .applicationData: "application data"
        case .trailer: "data behind its end"
        case .position: "position"
        }
    }
}

extension Set<DroppedPart> {
    /// In the order in which they are told.
    package var inOrder: [DroppedPart] { DroppedPart.allCases.filter(contains) }
}
