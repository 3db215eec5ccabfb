package import SyncCore
package import SyncLedger
import SystemPackage

/// Photos whose drive is not there, for people: what the ledger says of them is not said of what is at their places now.
/// The drives of each folder are looked at once. It blocks.
package struct PhotosElsewhere {
    private struct Findings {
        let places: FolderDrives.Places
        /// Places where a drive was mounted, and none is.
        let absent: [FilePath]
    }

    private let ledger: Ledger
    private let scanner: any TreeScanner
    private var known: [FolderID: Findings] = [:]

    package init(ledger: Ledger, scanner: any TreeScanner) {
        self.ledger = ledger
        self.scanner = scanner
    }

    /// - Returns: `nil` where the drive that a photo was found on is there, as far as anybody can tell, and for one that
    ///   was seen to be gone from it.
    /// - Throws: ``LedgerError``.
    package mutating func words(_ photo: PhotoStatus) throws -> String? {
        if photo.state == .lost { return nil }
        if photo.state == .missing, try ledger.unseen(among: [photo.id]).isEmpty { return nil }
        let findings = try check(photo.folder)
        if let place = findings.absent.first(where: { photo.relativePath.starts(with: $0) }) {
            return "its drive is away: none is mounted at \(name(place, in: photo.folder))"
        }
        let drive = try ledger.drive(ofFile: photo.relativePath, in: photo.folder.id)
        let directory = photo.relativePath.removingLastComponent()
        guard findings.places.seen(at: photo.relativePath).isOther(than: drive, in: directory) else { return nil }
        let place = name(findings.places.place(above: photo.relativePath), in: photo.folder)
        guard findings.places.isAway(drive, of: photo.relativePath) else { return OtherDrive.isUntold(at: place) }
        let away = "its drive is away: at \(place) is another one"
        let isThere = (try? scanner.stamp(of: photo.path)) != nil
        // What waits to be compared is told by its own reason.
        guard isThere, photo.state != .pending, photo.state != .uploading else { return away }
        return "\(away), and the file of this name there is not stored; sync-agent sync, "
            + "or, where it is another photo, give it another name"
    }

    private mutating func check(_ folder: FolderRecord) throws(LedgerError) -> Findings {
        if let known = known[folder.id] { return known }
        let drives = FolderDrives(ledger: ledger, scanner: scanner)
        let findings = Findings(places: try drives.places(of: folder), absent: try drives.absentMounts(of: folder))
        known[folder.id] = findings
        return findings
    }

    private func name(_ place: FilePath, in folder: FolderRecord) -> String {
        folder.path.pushing(place).text.escapingControls
    }
}
