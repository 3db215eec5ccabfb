import SyncCore
package import SyncLedger
package import SystemPackage

/// Somebody says which drive counts.
extension FolderDrives {
    /// What became of it that somebody says a drive takes the place of another one.
    package struct Acceptance {
        /// What takes the place of what was known, and how many known files are missing by that.
        package fileprivate(set) var taken: [OtherDrive] = []
        /// Places at which nothing is: no drive is mounted, and there is no file.
        package fileprivate(set) var empty: [FilePath] = []
    }

    /// Somebody says that other drives take the places of those that were known. What was on those and is not on these
    /// is missing from the next scan on. Photos of a third drive stay its own; where the one that is known of the place
    /// is there, it takes the place of all that took turns with it.
    /// - Parameter place: below the folder. It stands for the place that it is in, and for all places below it at which
    ///   another drive is mounted; one that has none is to be named itself.
    /// - Throws: ``LedgerError``.
    package func accept(at place: FilePath, of folder: FolderRecord) throws -> Acceptance {
        let findings = try check(folder)
        // A drive that was just formatted may be empty; a name that was mistyped is none.
        let isNewDrive = findings.strangers.contains { $0.place == place && $0.isMounted && !place.isEmpty }
        if try !isNewDrive && isBare(place, of: folder) { return Acceptance(empty: [folder.path.pushing(place)]) }
        let around = findings.place(above: place)
        var (acceptance, changes, plain) = (Acceptance(), findings.changes, [FilePath]())
        var takeovers = findings.takeovers
        for stranger in findings.strangers {
            let isNamed = stranger.place == around
            guard isNamed || stranger.isMounted && stranger.place.starts(with: place) else { continue }
            // A whole folder always counts as mounted.
            if !stranger.isMounted || stranger.place.isEmpty, try isBare(stranger.place, of: folder) {
                acceptance.empty.append(folder.path.pushing(stranger.place))
                continue
            }
            acceptance.taken.append(try describe(stranger, in: findings, of: folder))
            let drive = stranger.isMounted ? stranger.drive.flatMap { $0.isLasting ? $0 : nil } : nil
            changes[stranger.place] = .some(drive)
            if let expected = stranger.expected {
                takeovers.append(Self.takeover(of: expected, by: drive, at: stranger.place, among: findings.places))
            }
            if !stranger.isMounted { plain.append(stranger.place) }
        }
        if !acceptance.taken.isEmpty {
            try ledger.noteDrives(changes, takeovers, plain: plain, of: folder.id)
        } else if acceptance.empty.isEmpty, takeovers.isEmpty, let other = try acceptTurns(at: around, folder, findings)
        {
            acceptance.taken.append(other)
        }
        return acceptance
    }

    /// The drive that is known of a place is there: it takes the place of those that took turns with it.
    /// - Returns: `nil` where no photo was found on another one.
    private func acceptTurns(at place: FilePath, _ folder: FolderRecord, _ findings: Findings) throws -> OtherDrive? {
        guard case .found(let drive?, at: _, isExpected: true) = findings.seen(at: place), drive.isLasting else {
            return nil
        }
        let own = SeenDrive.found(drive, at: place, isExpected: true)
        let notSeen = try countFiles(of: nil, at: place, in: folder, among: findings.places) { file in
            own.isOther(than: file.photo.drive, in: file.path.removingLastComponent()) && !isSeen(file, of: folder)
        }
        let takeover = Self.takeover(of: nil, by: drive, at: place, among: findings.places)
        let count = try ledger.noteDrives(findings.changes, [takeover], of: folder.id)
        guard count > 0 else { return nil }
        return OtherDrive(path: folder.path.pushing(place), isMounted: true, filesNotSeen: notSeen)
    }
}
