package import FoundationEssentials
package import SystemPackage

/// What is known of one gallery event without its text: who, what, when, and where its photo is.
package struct GalleryEvent: Hashable, Sendable {
    package enum Photo: Hashable, Sendable {
        case none
        /// Base64 in the file itself: the bytes between the quotes, what comes before the data of a data URL left out.
        /// ``Base64Text`` reads them.
        case inline(Range<Int>)
        /// A file in the same folder.
        case beside(FilePath.Component)
    }

    /// Which element of the file it is, from 0.
    package var index: Int
    /// Can be a segment of an object key.
    package var id: String
    /// Whether the id stands outside of the element: it is its key, or the name of its file.
    package var hasOuterID = false
    /// `nil` where the event does not tell.
    package var userID: String?
    /// As it is written: an id, or a telephone number in any spelling. Where the event does not tell, that of its folder.
    package var profileID: String
    package var type: GalleryEventType
    package var createdAt: Date
    package var photo: Photo
    /// Whether it holds nothing beyond id, user, profile, type and time: its text was deleted already, or it had none.
    package var isBare: Bool
}

/// What an event is about. Types that this version does not know are kept under their names.
package struct GalleryEventType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` unless the name has 1 to 64 ASCII letters, digits, `_`, `-` or `.`: a type is written down where text must
    /// not be.
    package init?(rawValue: String) {
        guard (1...64).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ $0.isAlphanumeric || "_-.".utf8.contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }

    private init(_ name: StaticString) {
        rawValue = "\(name)"
    }

    package static let taskResponse = GalleryEventType("taskResponse")
    package static let profileCreated = GalleryEventType("profileCreated")

    package var isKnown: Bool { self == .taskResponse || self == .profileCreated }
    package var description: String { rawValue }
}

/// An element of an event file that is no event, and why. The reason quotes nothing of the file: it may be text.
package struct MalformedEvent: Hashable, Sendable, CustomStringConvertible {
    /// Which element of the file it is, from 0.
    package let index: Int
    package let reason: String
    /// Whether it holds an image, or something that should be one: it is stored nowhere.
    package var holdsPhoto = false

    /// People count from 1.
    package var description: String { "#\(index + 1) \(reason)" }
}
