import SyncCore
import SyncLedger
import SystemPackage

/// Whether a watched folder can tell what is not there any more: a drive that is not mounted looks like an empty
/// folder, or like none, and another one in its place like a folder from which all was deleted. Everything here blocks.
struct FolderPresence {
    /// What a look at a folder has found.
    struct Look: Sendable {
        fileprivate let folder: FolderRecord
        /// Why nothing can be concluded from what is not seen in the folder.
        fileprivate let away: String?
        /// Places below it where a drive was mounted, and none is.
        fileprivate let absentDrives: [FilePath]
        fileprivate let drives: FolderDrives.Look
        fileprivate let ledger: Ledger

        /// Why a file that is not seen may be there all the same; `nil` when it is gone.
        /// - Parameter file: below the folder.
        /// - Throws: ``LedgerError``.
        func whyAway(_ file: FilePath) throws -> String? {
            if let away { return away }
            if let drive = absentDrives.first(where: { file.starts(with: $0) }) {
                return "no drive is mounted at \(folder.path.pushing(drive).text.escapingControls)"
            }
            let drive = try ledger.drive(ofFile: file, in: folder.id)
            guard drives.seen(at: file).isOther(than: drive, in: file.removingLastComponent()) else { return nil }
            let place = folder.path.pushing(drives.place(above: file)).text.escapingControls
            return "at \(place) is another drive than the one that it was found on"
        }
    }

    let ledger: Ledger
    let scanner: any TreeScanner

    /// Reads the folder until there is a file in it.
    /// - Parameter isForGood: whether what is concluded cannot be taken back. Then an empty folder tells nothing as long
    ///   as the ledger has a photo of it, also a missing one: a rebuild calls all missing that it does not see, and does
    ///   not ask for their drive.
    /// - Throws: ``LedgerError``.
    func look(at folder: FolderRecord, isForGood: Bool = false) throws -> Look {
        let drives = FolderDrives(ledger: ledger, scanner: scanner)
        let absent = try drives.absentMounts(of: folder)
        let look = try drives.look(at: folder)
        return Look(
            folder: folder, away: try whyAway(folder, isForGood), absentDrives: absent, drives: look, ledger: ledger)
    }

    private func whyAway(_ folder: FolderRecord, _ isForGood: Bool) throws -> String? {
        let name = folder.path.text.escapingControls
        do {
            if try scanner.holdsFiles(of: folder.path) { return nil }
        } catch let error as ScanError {
            return "\(name) \(error.message)"
        }
        if try ledger.knownFileCount(folder.id) > 0 { return "\(name) is empty, and files are known in it" }
        guard try isForGood && ledger.hasPhotos(folder.id) else { return nil }
        return "\(name) is empty (where its photos were deleted on purpose, put a file, such as a note, into it)"
    }
}
