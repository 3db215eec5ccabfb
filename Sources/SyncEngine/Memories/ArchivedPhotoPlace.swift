package import SyncCore

/// What the key of an archived photo tells: `gallery-archive/{user}/{profile}/{year}/{month}/{eventId}.jpg`.
package struct ArchivedPhotoPlace: Hashable, Sendable {
    private static let ending = ".jpg"

    package let key: ObjectKey
    /// A UUID or a name; a telephone number where an early version put it there.
    package let profile: String
    /// The first day of the month, UTC, in which the event was created.
    package let month: CalendarDay
    package let eventID: String

    /// `nil` for what is no archived photo of the user.
    package init?(_ key: ObjectKey, of keys: KeyLayout) {
        let prefix = keys.galleryArchive
        guard key.rawValue.utf8.starts(with: prefix.utf8) else { return nil }
        let segments = String(decoding: key.rawValue.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            .split(separator: "/").map { String($0) }
        guard segments.count == 4, segments[3].hasSuffix(Self.ending), segments[3] != Self.ending,
            let month = CalendarDay("\(segments[1])-\(segments[2])-01")
        else { return nil }
        self.key = key
        self.month = month
        profile = segments[0]
        eventID = String(segments[3].dropLast(Self.ending.count))
    }

    /// The same photo under another profile.
    /// - Throws: ``InvalidName`` when the profile cannot be a segment of a key.
    func key(underProfile profile: String, event: String, of keys: KeyLayout) throws(InvalidName) -> ObjectKey {
        try keys.archivedPhoto(profile: profile, month: month, event: event)
    }
}
