package import SyncCore

/// Which archived photos are meant.
package struct ArchiveFilter: Hashable, Sendable {
    /// As they are in keys; `nil` for all.
    package var profiles: [String]?
    /// Whether the profiles are meant in upper and lower case alike.
    package var ignoresCase: Bool
    /// The first and the last day on which the event was created, UTC.
    package var from: CalendarDay?
    package var to: CalendarDay?
    package var type: GalleryEventType?

    package init(
        profiles: [String]? = nil, ignoresCase: Bool = false, from: CalendarDay? = nil, to: CalendarDay? = nil,
        type: GalleryEventType? = nil
    ) {
        self.profiles = profiles
        self.ignoresCase = ignoresCase
        self.from = from
        self.to = to
        self.type = type
    }

    /// What the keys of such photos begin with, as far as that can be said.
    func prefixes(in keys: KeyLayout) -> [String] {
        // Keys are in the order of their bytes: a name in any case may stand anywhere.
        guard let profiles, !ignoresCase else { return [keys.galleryArchive] }
        return profiles.map { keys.galleryArchive + $0 + "/" + months }
    }

    /// The year, and the month, that all of them have.
    private var months: String {
        guard let from, let to, from.year == to.year else { return "" }
        let parts = from.description.split(separator: "-")
        return parts[0] + "/" + (from.month == to.month ? parts[1] + "/" : "")
    }

    /// Whether its key lets a photo be one of them.
    func mayAccept(_ place: ArchivedPhotoPlace) -> Bool {
        if let profiles, !profiles.contains(where: { isSame($0, place.profile) }) { return false }
        if let from, (place.month.year, place.month.month) < (from.year, from.month) { return false }
        // A month is its first day.
        return to.map { place.month <= $0 } ?? true
    }

    private func isSame(_ profile: String, _ other: String) -> Bool {
        profile.utf8.elementsEqual(other.utf8) || ignoresCase && profile.lowercased() == other.lowercased()
    }

    /// Whether all photos of a month are meant that have the right profile.
    func acceptsAll(of month: CalendarDay) -> Bool {
        type == nil && from.map { $0 <= month } ?? true
            && to.map { (month.year, month.month) < ($0.year, $0.month) } ?? true
    }

    func accepts(_ memory: ArchivedGalleryPhoto) -> Bool {
        let day = CalendarDay(memory.createdAt)
        return mayAccept(memory.place) && type.map { $0 == memory.type } ?? true && from.map { $0 <= day } ?? true
            && to.map { day <= $0 } ?? true
    }
}
