import SyncCore
import SyncLedger
import SystemPackage

/// Whether a watched folder can tell what is not there any more: a drive that is not mounted looks like an empty
/// folder, or like none, and another one in its place like a folder from which all was deleted. Everything here blocks.
struct FolderPresence {
    /// What a look at a folder has found.
    struct Findings: Sendable {
        fileprivate let folder: FolderRecord
        /// Why nothing can be concluded from what is not seen in the folder.
        fileprivate let away: Absence?
        /// Places below it where a drive was mounted, and none is.
        fileprivate let absentDrives: [AbsentDrive]
        fileprivate let drives: FolderDrives.Findings
        fileprivate let ledger: Ledger

        /// Why a file that is not seen may be there all the same; `nil` when it is gone.
        /// - Parameter file: below the folder.
        /// - Throws: ``LedgerError``.
        func whyAway(_ file: FilePath) throws -> String? { try absence(of: file)?.reason }

        /// The same for somebody who wants the file to be gone, with what tells that it is.
        /// - Throws: ``LedgerError``.
        func whyKept(_ file: FilePath) throws -> String? {
            try absence(of: file).map { $0.remedy.isEmpty ? $0.reason : "\($0.reason) (\($0.remedy))" }
        }

        private func absence(of file: FilePath) throws -> Absence? {
            if let away { return away }
            if let drive = absentDrives.first(where: { file.starts(with: $0.place) }) {
                let place = folder.path.pushing(drive.place)
                let name = place.text.escapingControls
                let making = drive.hasFolder ? "" : "make the folder (mkdir \(name.shellWord)), "
                return Absence(
                    reason: "no drive is mounted at \(name)",
                    remedy: "where it does not come back, \(making)put a file, such as a note, there, and then, while "
                        + "no agent runs: \(OtherDrive.command(at: place))")
            }
            let drive = try ledger.drive(ofFile: file, in: folder.id)
            let seen = drives.seen(at: file)
            guard seen.isOther(than: drive, in: file.removingLastComponent()) else { return nil }
            let place = folder.path.pushing(drives.place(above: file))
            let (name, command) = (place.text.escapingControls, OtherDrive.command(at: place))
            guard drives.isAway(drive, of: file) else {
                return Absence(
                    reason: OtherDrive.isUntold(at: name),
                    remedy: "where it is, or takes its place, while no agent runs: \(command)")
            }
            return Absence(
                reason: "at \(name) is another drive than the one that it was found on",
                remedy: "where that does not come back, while no agent runs: \(command)")
        }
    }

    /// A place where a drive was mounted, and none is.
    fileprivate struct AbsentDrive: Sendable {
        /// Below the folder.
        let place: FilePath
        let hasFolder: Bool
    }

    fileprivate struct Absence: Sendable {
        let reason: String
        /// Empty where there is none but to see to the reason.
        let remedy: String
    }

    fileprivate static let note = "where its photos were deleted on purpose, put a file, such as a note, into it"

    let ledger: Ledger
    let scanner: any TreeScanner

    /// Reads the folder until there is a file in it.
    /// - Parameter isForGood: whether what is concluded cannot be taken back. Then an empty folder tells nothing as long
    ///   as the ledger has a photo of it, also a missing one: a rebuild calls all missing that it does not see.
    /// - Throws: ``LedgerError``.
    func check(_ folder: FolderRecord, isForGood: Bool = false) throws -> Findings {
        try check(folder, on: drives.check(folder), isForGood)
    }

    /// The same for one file: what it takes does not grow with what is known of the folder.
    /// - Throws: ``LedgerError``.
    func glance(at folder: FolderRecord) throws -> Findings {
        try check(folder, on: drives.glance(at: folder), false)
    }

    private var drives: FolderDrives { FolderDrives(ledger: ledger, scanner: scanner) }

    private func check(_ folder: FolderRecord, on seen: FolderDrives.Findings, _ isForGood: Bool) throws -> Findings {
        let absent = try drives.absentMounts(of: folder).map { place in
            AbsentDrive(place: place, hasFolder: scanner.isFolder(folder.path.pushing(place)))
        }
        let away = try whyAway(folder, isForGood)
        return Findings(folder: folder, away: away, absentDrives: absent, drives: seen, ledger: ledger)
    }

    private func whyAway(_ folder: FolderRecord, _ isForGood: Bool) throws -> Absence? {
        let name = folder.path.text.escapingControls
        var unread: FilePath?
        do {
            try scanner.scan(root: folder.path, from: folder.path) { seen in
                if !seen.files.isEmpty { throw FolderIsSeen() }
                if let error = seen.error { unread = unread ?? error.path }
            }
        } catch is FolderIsSeen {
            return nil
        } catch let error as ScanError {
            return Absence(reason: "\(name) \(error.message)", remedy: "")
        }
        if let unread {
            return Absence(
                reason: "no file is seen in \(name), and \(unread.text.escapingControls) cannot be read", remedy: "")
        }
        if try ledger.knownFileCount(folder.id) > 0 {
            return Absence(reason: "\(name) is empty, and files are known in it", remedy: Self.note)
        }
        guard try isForGood && ledger.hasPhotos(folder.id) else { return nil }
        return Absence(reason: "\(name) is empty", remedy: Self.note)
    }
}

/// Whether directories tell that what is not seen in them is gone, though nobody here has ever seen it: a place where a
/// drive is mounted is empty without it, and a ledger that was made anew may not know that it is one. Each directory is
/// looked at once. It blocks.
struct EmptyDirectories {
    private let scanner: any TreeScanner
    /// By directory, absolute: why nothing can be concluded.
    private var reasons: [FilePath: String?] = [:]

    init(scanner: any TreeScanner) {
        self.scanner = scanner
    }

    /// Why a file that is not seen may be there all the same: the nearest directory above it that is there is empty;
    /// `nil` when that has anything in it.
    /// - Parameters:
    ///   - file: below the folder.
    ///   - folder: the watched one, in which something is.
    mutating func whyAway(_ file: FilePath, in folder: FilePath) -> String? {
        whyAway(from: file.removingLastComponent(), of: folder)
    }

    private mutating func whyAway(from directory: FilePath, of folder: FilePath) -> String? {
        let path = folder.pushing(directory)
        if let known = reasons[path] { return known }
        let reason = check(directory, path, of: folder)
        reasons.updateValue(reason, forKey: path)
        return reason
    }

    private mutating func check(_ directory: FilePath, _ path: FilePath, of folder: FilePath) -> String? {
        let name = path.text.escapingControls
        do {
            try scanner.scan(root: folder, from: path) { seen in
                // The second one that is visited is in the first.
                if seen.path != directory || !seen.files.isEmpty { throw FolderIsSeen() }
            }
            return "\(name) is empty (\(FolderPresence.note); or remove the folder)"
        } catch let error as ScanError {
            guard error.code == .missing, !directory.isEmpty else { return "\(name) \(error.message)" }
            return whyAway(from: directory.removingLastComponent(), of: folder)
        } catch {
            return nil
        }
    }
}
