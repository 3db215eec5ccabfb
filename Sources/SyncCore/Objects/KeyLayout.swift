/// Where each kind of object lives, for one user. The table in docs/design.md, section 5, in code.
package struct KeyLayout: Hashable, Sendable {
    package let user: String

    /// - Throws: ``InvalidName`` when the user cannot be a segment of a key.
    package init(user: String) throws(InvalidName) {
        _ = try ObjectKey(segments: ["users", user])
        self.user = user
    }

    /// The content-addressed pool: one object per photo, however many names it has on the disk.
    package func photo(_ id: PhotoID) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "photos", "\(id).dat"])
    }

    /// The beginning of the keys of all photos in the pool.
    package var photos: String { "users/\(user)/photos/" }

    /// A vacation's manifest.
    /// - Parameter cacheKey: `{location}_{start}_{end}_{count}`.
    package func vacation(_ cacheKey: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "vacations", "\(cacheKey).json"])
    }

    /// The photo of a gallery event that was archived.
    /// - Parameters:
    ///   - month: of the event's creation, in UTC.
    ///   - photo: of one whose key is another photo's already: that of an event with the same id, profile and month.
    package func archivedPhoto(
        profile: String, month: CalendarDay, event: String, besides photo: MD5Digest? = nil
    ) throws(InvalidName) -> ObjectKey {
        let day = month.description.split(separator: "-").map { String($0) }
        let name = photo.map { "\(event)-\("\($0)".prefix(8))" } ?? event
        return try ObjectKey(segments: ["gallery-archive", user, profile, day[0], day[1], "\(name).jpg"])
    }

    /// The beginning of all keys of archived photos.
    package var galleryArchive: String { "gallery-archive/\(user)/" }

    /// The beginnings of all keys that are this user's.
    package var ownPrefixes: [String] { ["users/\(user)/", "gallery-archive/\(user)/"] }

    /// A file of a project, kept under its own name: `projects.json`, `{id}.jpg`, `{id}-metadata.json`.
    ///
    /// - Parameter relativePath: the path below the projects folder, `/`-separated.
    package func projectFile(_ relativePath: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey("users/\(user)/projects/\(relativePath)")
    }

    /// The beginning of the keys of a project's earlier images.
    package func projectVersions(_ id: String) throws(InvalidName) -> String {
        try ObjectKey(segments: ["users", user, "projects", id, "versions"]).rawValue + "/"
    }
}
