/// Where a file of a watched folder stands. The names are those of `status --json`.
package enum PhotoState: String, Hashable, Sendable, CaseIterable {
    /// Known, not stored yet; it waits for its turn or for its next try.
    case pending
    /// In hand right now.
    case uploading
    /// The store has proved that it holds it.
    case uploaded
    /// It cannot be stored as it is; tried again when the file changes.
    case failed
    /// Not something that this folder stores.
    case skipped
    /// Stored, and no longer on the disk.
    case missing
    /// No longer on the disk, and what was stored of it is gone or damaged.
    case lost

    /// Whether the file is there, as far as is known.
    package var isOnDisk: Bool { self != .missing && self != .lost }
}

/// Why an image, a video or a JSON file is not stored on purpose. It is counted and named beside what is safe, since
/// its owner may not know that it is left out. The ledger and `status --json` know it by these names.
package enum LeftOut: String, Hashable, Sendable, CaseIterable {
    /// The image of a project that is another one's duplicate.
    case duplicate
    /// The image of a project that has been in the making for too long.
    case dropped
    /// The image of a project that failed.
    case failed
    /// An image of which `projects.json` has no record that can be used.
    case unrecorded
    /// Of a kind that its folder does not store: a video among projects.
    case unfit
    /// A JSON file of a gallery that cannot be read: it may hold events.
    case unreadable
    /// The filter of its folder leaves it out. It is counted by itself, and nobody is told of each.
    case filtered
}

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
    /// Another picture beside the first one: a depth map, the other eye, the picture before an effect, a page.
    case secondPicture
    /// A film behind the picture, or that the picture itself moves: of it the first frame is kept.
    case motion
    /// What a picture lets through: it lies on white.
    case alpha
    /// More than 8 bits for each colour.
    case depth
    /// What a camera's sensor saw: of it the camera's own picture is kept.
    case raw
    /// What cameras and programs write beside the picture, in segments or chunks of their own: signed credentials, edits,
    /// data of the lens.
    case applicationData
    /// Bytes behind the picture's end that are none of these: a text, another file.
    case trailer
    /// Of a film: captions, chapters, depth, with `strip_location`.
    case tracks
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
        case .alpha: "transparency"
        case .depth: "more than 8 bits a colour"
        case .raw: "raw data"
        case .applicationData: "application data"
        case .trailer: "data behind its end"
        case .tracks: "tracks beside pictures and sound"
        case .position: "position"
        }
    }
}

extension Set<DroppedPart> {
    /// In the order in which they are told.
    package var inOrder: [DroppedPart] { DroppedPart.allCases.filter(contains) }
}
