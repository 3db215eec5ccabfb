import SyncCore
import SyncDigest
import SystemPackage

/// Names of downloaded photos: `2025-10-20_{profile}_{eventId}.jpg`, the same for the same photo whatever else is saved.
/// It ends as the photo's bytes want it, whatever the key ends with.
enum ArchiveFileName {
    /// Bytes of each part.
    private static let longest = 100

    static func name(of memory: ArchivedGalleryPhoto) -> FilePath.Component {
        let (profile, event) = (memory.place.profile, memory.place.eventID)
        var name = "\(CalendarDay(memory.createdAt))_\(plain(profile))_\(plain(event))"
        // Two keys must never have one name. With an underscore in the profile, nobody could tell where it ends.
        if plain(profile) != profile || plain(event) != event || profile.contains("_") {
            let digest = SHA256Digest(of: Array(memory.key.rawValue.utf8))
            name += "_" + digest.description.prefix(8)
        }
        guard let component = FilePath.Component("\(name).\(MediaType.ending(ofContentType: memory.contentType))")
        else {
            preconditionFailure("letters and digits make a name")
        }
        return component
    }

    /// With `_` in the place of all but letters, digits and what is harmless in names everywhere.
    private static func plain(_ text: String) -> String {
        var name = String(text.map { $0.isLetter || $0.isNumber || "-_.+@".contains($0) ? $0 : "_" })
        while name.utf8.count > longest { name.removeLast() }
        return name
    }
}
