import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

extension Ledger {
    /// The files that belong to a photo; none where it stands for itself, or belongs to another one.
    package func companions(of photo: PhotoStatus) throws(LedgerError) -> [PhotoStatus] {
        guard let unit = try unit(of: photo), unit.photo.id == photo.id else { return [] }
        return unit.companions.map(\.member)
    }

    /// The files that belong together with a photo, itself included; `nil` where it stands for itself. Its cost is that of a
    /// few seeks.
    package func unit(of photo: PhotoStatus) throws(LedgerError) -> PhotoUnit<PhotoStatus>? {
        guard let name = photo.relativePath.lastComponent.flatMap({ UnitName($0) }) else { return nil }
        return try read("look up what belongs to a photo") { db in
            guard
                let directory = try db.number("SELECT directory_id FROM photos WHERE id = ?", [photo.id])
            else { return nil }
            let members = try name.prefixes.flatMap { prefix in
                // All names with a dot behind it, in the order of bytes: a slash follows the dot.
                try db.rows(
                    LedgerQuery.photosOfStem,
                    [directory, Data(prefix + Array(".".utf8)), Data(prefix + Array("/".utf8))], as: PhotoStatus.self)
            }
            let units = PhotoUnit.units(
                of: members, isThere: { $0.state.isOnDisk && $0.state != .failed && $0.state != .skipped },
                name: { $0.relativePath.lastComponent ?? "." })
            return units.first { unit in
                unit.photo.id == photo.id || unit.companions.contains { $0.member.id == photo.id }
            }
        }
    }
}
