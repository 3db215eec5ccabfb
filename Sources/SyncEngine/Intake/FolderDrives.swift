package import SyncCore
package import SyncLedger
import SystemPackage

/// Whether the drives at and below a watched folder are those that its photos were found on. Another one in the place
/// of a drive that was taken out is a folder full of files, from which all others seem to be deleted.
///
/// Each place in a folder where a file system begins is noted with what that is recognised by (``DriveIdentity``), once
/// a file that is known there is seen on it. Where it is another one now, or none, these files decide. When all are
/// there, with their sizes and times, as after a copy to a new disk, nothing is wrong, and once each was read and is the
/// photo that it seemed to be, that one takes the place; when one is not, nothing is concluded from what is not seen.
/// So it is while nothing tells which drive is there, as before udev(7) has read its UUID: not told is not the same.
/// Photos that were found on a third drive do not count in that: each knows its own, and is looked for there
/// (``SeenDrive``). Everything here blocks.
package struct FolderDrives: Sendable {
    /// A place with another drive than the one that its photos were found on, or with one that may be another.
    struct Stranger: Sendable {
        /// Below the folder.
        let place: FilePath
        /// Whether a drive is mounted there; that of a whole folder always is. Else there is none where one was.
        let isMounted: Bool
        /// What is there, as far as it tells of itself.
        let drive: DriveIdentity?
        /// The one that is known of the place; `nil` where it told nothing of itself.
        let expected: DriveIdentity?
        /// Whether it is another one for certain.
        let isCertain: Bool
    }

    /// What a look at a folder has found.
    struct Findings: Sendable {
        fileprivate let seen: Places
        let strangers: [Stranger]
        /// All places, those above before those below.
        var places: [FilePath] { seen.all.map(\.path) }
        /// What is to be noted.
        let changes: [FilePath: DriveIdentity?]
        let takeovers: [DriveTakeover]

        /// The one on which a path is, or would be; `nil` where that is the drive that is known.
        /// - Parameter path: below the folder.
        func stranger(above path: FilePath) -> Stranger? {
            if strangers.isEmpty { return nil }
            let place = seen.holding(path)?.path
            return strangers.first { $0.place == place }
        }

        /// The drive that a path is on, or would be.
        /// - Parameter path: below the folder.
        func seen(at path: FilePath) -> SeenDrive {
            guard let place = seen.holding(path) else { return .known }
            return place.seen(isExpected: stranger(above: path) == nil)
        }

        /// As ``Places/isAway(_:of:)``.
        func isAway(_ drive: DriveIdentity?, of path: FilePath) -> Bool { seen.isAway(drive, of: path) }

        /// The place that a path is at.
        func place(above path: FilePath) -> FilePath { seen.holding(path)?.path ?? FilePath() }
    }

    /// Where one file system ends and the next begins, below a folder, and the folder itself: those above before those
    /// below. What files are there was not looked at.
    struct Places: Sendable {
        fileprivate let all: [Place]

        /// The one that a path is at, or would be: the deepest.
        fileprivate func holding(_ path: FilePath) -> Place? { all.last { path.starts(with: $0.path) } }

        /// Whether a path is, or would be, on another drive than the one that is known, or may be. One that has all the
        /// known files, and takes the place by that, is another one until it is noted.
        func isOther(at path: FilePath) -> Bool { holding(path)?.isOther == true }

        /// The same of a path or anything below it.
        func isOther(atOrBelow path: FilePath) -> Bool {
            isOther(at: path) || all.contains { $0.isOther && $0.path.starts(with: path) }
        }

        /// The drive that a path is on, or would be.
        func seen(at path: FilePath) -> SeenDrive {
            guard let place = holding(path) else { return .known }
            return place.seen(isExpected: !place.isOther)
        }

        /// Whether the drive of a photo, which is not known to be there, is away for certain.
        /// - Parameters:
        ///   - drive: `nil` where none is known of the photo.
        ///   - path: of the photo, below the folder.
        func isAway(_ drive: DriveIdentity?, of path: FilePath) -> Bool {
            guard let place = holding(path) else { return false }
            guard let drive else { return place.likeness == .other }
            return !place.seen(isExpected: !place.isOther).isUntold(of: drive)
        }

        /// The place that a path is at.
        func place(above path: FilePath) -> FilePath { holding(path)?.path ?? FilePath() }
    }

    fileprivate struct Place: Sendable {
        let path: FilePath
        let isMounted: Bool
        let noted: DriveIdentity?
        /// `noted`, or that of the place around it.
        let expected: DriveIdentity?
        let found: DriveIdentity?
        /// Whether nothing is known of the place, and files were met there all the same, on a drive that told nothing of
        /// itself: only they tell whether this one is the same.
        let wasUntold: Bool

        /// Whether the drive that is there is the one that is known.
        var likeness: DriveIdentity.Likeness {
            switch (found, expected) {
            case (let found?, let expected?): found.likeness(to: expected)
            case (_?, nil): wasUntold ? .untold : .same
            case (nil, _?): .untold
            case (nil, nil): .same
            }
        }

        /// Whether it is another one, or may be.
        var isOther: Bool { likeness != .same }

        /// As long as nothing tells that it takes the place.
        var stranger: Stranger {
            Stranger(
                place: path, isMounted: isMounted, drive: found, expected: expected, isCertain: likeness == .other)
        }

        func seen(isExpected: Bool) -> SeenDrive {
            if found == nil, expected != nil { return .untold }
            return .found(found, at: path, isExpected: isExpected)
        }
    }

    let ledger: Ledger
    private let scanner: any TreeScanner

    package init(ledger: Ledger, scanner: any TreeScanner) {
        self.ledger = ledger
        self.scanner = scanner
    }

    /// - Throws: ``LedgerError``.
    func check(_ folder: FolderRecord) throws -> Findings {
        let seen = try places(of: folder)
        let places = seen.all.map(\.path)
        var strangers: [Stranger] = []
        var changes: [FilePath: DriveIdentity?] = [:]
        var takeovers: [DriveTakeover] = []
        for place in seen.all {
            if place.isOther, try !isTaken(place, of: folder, among: places) {
                strangers.append(place.stranger)
                // Mounted over photos, it has a place of its own from now on: where they are is remembered.
                if place.noted == nil, let expected = place.expected { changes[place.path] = .some(expected) }
            } else if let found = place.found,
                try place.noted != nil
                    || place.isMounted && found.isLasting && isProved(place, of: folder, among: places)
            {
                let drive = Self.note(of: found, at: place)
                if drive != place.noted { changes[place.path] = .some(drive) }
                if place.isOther, let expected = place.expected {
                    takeovers.append(Self.takeover(of: expected, by: drive, at: place.path, among: places))
                }
            }
        }
        return Findings(seen: seen, strangers: strangers, changes: changes, takeovers: takeovers)
    }

    /// As ``check(_:)``, for whoever asks about one file after the other: none of the known files is looked for,
    /// however many there are. A drive that has them all counts as another one until a scan has noted it.
    func glance(at folder: FolderRecord) throws(LedgerError) -> Findings {
        let seen = try places(of: folder)
        let strangers = seen.all.filter(\.isOther).map(\.stranger)
        return Findings(seen: seen, strangers: strangers, changes: [:], takeovers: [])
    }

    /// - Throws: ``LedgerError``.
    func note(_ findings: Findings, of folder: FolderRecord) throws {
        try ledger.noteDrives(findings.changes, findings.takeovers, of: folder.id)
    }

    /// Places at which another drive is than in a look, or at which one was mounted or taken out since. It asks the
    /// system and not the ledger.
    func changes(since findings: Findings, in folder: FolderRecord) -> Set<FilePath> {
        let root = FilePath()
        let mounted = Set(scanner.mountPoints(below: folder.path)).subtracting([root])
        let before = Set(findings.seen.all.filter(\.isMounted).map(\.path)).subtracting([root])
        let other = findings.seen.all.filter { place in
            let drive = scanner.drive(at: folder.path.pushing(place.path))
            guard let drive, let found = place.found else { return (drive == nil) != (place.found == nil) }
            return drive.likeness(to: found) != .same
        }
        return mounted.symmetricDifference(before).union(other.map(\.path))
    }

    /// What tells that nothing was mounted or taken out, as of ``TreeScanner/mountTable()``.
    func mountTable() -> [UInt8] { scanner.mountTable() }

    /// Places below a folder where a drive was mounted, and none is: what was there cannot be seen.
    func absentMounts(of folder: FolderRecord) throws(LedgerError) -> [FilePath] {
        let known = try ledger.mounts(of: folder.id).map(\.path)
        if known.isEmpty { return [] }
        let mounted = Set(scanner.mountPoints(below: folder.path))
        return known.filter { !mounted.contains($0) }
    }

    /// For ``Ledger/observe(_:drive:stillThere:whySkipped:at:)`` of files in these folders that were looked at before.
    /// What drives there are is read once for each folder, when the first of its files asks.
    ///
    /// A drive that has all the known files is told as another one until they were read, and a scan has noted it.
    func seen(in folders: [FolderRecord]) -> (SettledFile) throws(LedgerError) -> SeenDrive {
        var known: [FolderID: Places] = [:]
        return { file throws(LedgerError) in
            guard let folder = folders.first(where: { $0.id == file.folder }) else { return .known }
            if known[folder.id] == nil { known[folder.id] = try places(of: folder) }
            return known[folder.id]?.seen(at: file.path.relative(to: folder.path)) ?? .known
        }
    }

    /// Other drives than those that photos were found on. It asks for each file that is known there.
    /// - Throws: ``LedgerError``.
    package func others(in folder: FolderRecord) throws -> [OtherDrive] {
        let findings = try check(folder)
        return try findings.strangers.map { try describe($0, in: findings, of: folder) }.filter { $0.filesNotSeen > 0 }
    }

    /// - Throws: ``LedgerError``.
    func describe(_ stranger: Stranger, in findings: Findings, of folder: FolderRecord) throws -> OtherDrive {
        var namesakes = 0
        var first: FilePath?
        let notSeen = try countFiles(
            of: stranger.expected ?? stranger.drive, at: stranger.place, in: folder, among: findings.places
        ) { file in
            guard let stamp = stamp(of: file, in: folder) else { return true }
            if file.photo.mayBe(stamp) { return false }
            namesakes += 1
            first = first ?? folder.path.pushing(file.path)
            return true
        }
        return OtherDrive(
            path: folder.path.pushing(stranger.place), isMounted: stranger.isMounted, filesNotSeen: notSeen,
            namesakes: namesakes, isCertain: stranger.isCertain, namesake: first)
    }

    static func takeover(
        of old: DriveIdentity?, by new: DriveIdentity?, at place: FilePath, among places: [FilePath]
    ) -> DriveTakeover {
        DriveTakeover(of: old, by: new, at: place, except: below(place, among: places))
    }

    private static func below(_ place: FilePath, among places: [FilePath]) -> [FilePath] {
        places.filter { $0 != place && $0.starts(with: place) }
    }

    // MARK: What is there

    func places(of folder: FolderRecord) throws(LedgerError) -> Places {
        let noted = try ledger.drives(of: folder.id)
        let known = Set(try ledger.mounts(of: folder.id).map(\.path))
        let mounted = Set(scanner.mountPoints(below: folder.path))
        let root = FilePath()
        let paths = known.union(mounted).union(noted.keys).union([root])
            .sorted { $0.components.count < $1.components.count }
        var places: [Place] = []
        for path in paths {
            // A drive that was mounted before and told nothing of itself is not compared with what is around it.
            let isUnknown = path == root || known.contains(path)
            let above = isUnknown ? nil : places.last { path.starts(with: $0.path) }
            let around = above.flatMap { above in above.expected?.below(path.relative(to: above.path)) }
            let (expected, found) = (noted[path] ?? around, scanner.drive(at: folder.path.pushing(path)))
            let isMounted = path == root || mounted.contains(path)
            let isNew = expected == nil && isMounted && found?.isLasting == true
            let below = Self.below(path, among: paths)
            let wasUntold = isNew ? try ledger.hasFileOfUntoldDrive(in: folder.id, below: path, except: below) : false
            places.append(
                Place(
                    path: path, isMounted: isMounted, noted: noted[path], expected: expected, found: found,
                    wasUntold: wasUntold))
        }
        return Places(all: places)
    }

    private static func note(of found: DriveIdentity, at place: Place) -> DriveIdentity? {
        // Where nothing is mounted any more, it is a folder like the one around it.
        guard found.isLasting, place.isMounted else { return nil }
        guard let noted = place.noted, found.likeness(to: noted) == .same else { return found }
        return found.completed(by: noted)
    }

    /// A file of which something is stored, or is to be.
    struct KnownFile {
        /// Below the folder.
        let path: FilePath
        let photo: KnownPhotoFile

        /// Whether it was seen on a drive that told nothing of itself.
        var isOfUntold: Bool { photo.wasMet && photo.drive == nil }
    }

    /// Known files that are at a place, and at none of the places below it.
    /// - Parameters:
    ///   - drive: files that were found on another one are left out; `nil` for all.
    ///   - most: with so many the search ends.
    func countFiles(
        of drive: DriveIdentity?, at place: FilePath, in folder: FolderRecord, among places: [FilePath],
        upTo most: Int = .max, where isSo: (KnownFile) -> Bool
    ) throws -> Int {
        let below = Self.below(place, among: places)
        let own = drive.map { SeenDrive.found($0, at: place, isExpected: true) } ?? .known
        var count = 0
        for directory in try ledger.directories(of: folder.id, below: place)
        where !below.contains(where: directory.path.starts) {
            for known in try ledger.knownFiles(in: directory.id)
            where !own.isOther(than: known.drive, in: directory.path) {
                let file = KnownFile(path: directory.path.appending(known.name), photo: known)
                guard isSo(file) else { continue }
                count += 1
                if count >= most { return count }
            }
        }
        return count
    }

    private func hasFile(
        of drive: DriveIdentity?, at place: Place, in folder: FolderRecord, among places: [FilePath],
        where isSo: (KnownFile) -> Bool
    ) throws -> Bool {
        try countFiles(of: drive, at: place.path, in: folder, among: places, upTo: 1, where: isSo) > 0
    }

    /// Whether the drive that is there takes the place of the one that was, without anybody saying so: no photo is
    /// known on that any more. Those that were copied from it are known on this one since they were read.
    private func isTaken(_ place: Place, of folder: FolderRecord, among places: [FilePath]) throws -> Bool {
        if place.expected == nil { return try isFound(place, of: folder, among: places) }
        // Where nothing was noted, and nothing can be, it takes no place: its files are where they were.
        if place.noted == nil, place.found?.isLasting != true {
            return try !hasFile(of: place.expected, at: place, in: folder, among: places) { !isSeen($0, of: folder) }
        }
        return try !hasFile(of: place.expected, at: place, in: folder, among: places) { _ in true }
    }

    /// Whether a drive that tells what it is may be the one that told nothing until now: a file is the one that was met
    /// on that. That it has copies proves nothing; once all were read on it, there is no doubt (``Place/wasUntold``).
    private func isFound(_ place: Place, of folder: FolderRecord, among places: [FilePath]) throws -> Bool {
        try hasFile(of: place.found, at: place, in: folder, among: places) { file in
            file.isOfUntold && stamp(of: file, in: folder).map(file.photo.isMet) == true
        }
    }

    /// Whether a drive of which nothing is noted is the one that photos were found on: an empty mount point is not.
    private func isProved(_ place: Place, of folder: FolderRecord, among places: [FilePath]) throws -> Bool {
        let drive = place.found
        if try hasFile(of: drive, at: place, in: folder, among: places, where: { isSeen($0, of: folder) }) {
            return true
        }
        return try !hasFile(of: drive, at: place, in: folder, among: places) { _ in true }
    }

    /// Whether no file can be seen at a place.
    func isBare(_ place: FilePath, of folder: FolderRecord) throws -> Bool {
        do { return try !scanner.holdsFiles(below: place, of: folder.path) } catch is ScanError { return true }
    }

    func isSeen(_ file: KnownFile, of folder: FolderRecord) -> Bool {
        stamp(of: file, in: folder).map(file.photo.mayBe) == true
    }

    /// What cannot be looked at is not known to be there.
    private func stamp(of file: KnownFile, in folder: FolderRecord) -> FileStamp? {
        try? scanner.stamp(of: folder.path.pushing(file.path))
    }
}
