package import SyncCore
package import SystemPackage

/// The comparison of a directory's rows with its files: what has to be done, by name. It decides nothing about moves:
/// those need a look at other directories.
struct DirectoryPlan {
    struct Change {
        var row: PhotoRow
        var stamp: FileStamp
    }

    /// A stored photo of another drive, of which there is a file that counts as a copy until it is read.
    struct Supposition {
        var id: Int64
        var wasStored: Bool
        /// Whether the file has the stamp that is known, so that nothing else has it read.
        var isUntouched: Bool
    }

    struct Release {
        var row: PhotoRow
        /// Where in ``files`` the file is.
        var index: Int
        /// Whether the file may be one of which nothing is stored: nothing was, so far.
        var isOpen: Bool { row.objectID == nil && row.state == .pending }
    }

    /// Where in ``files`` there are names that no row has, in order.
    private(set) var new: [Int] = []
    /// Rows whose file has another stamp.
    private(set) var changed: [Change] = []
    /// Rows of an older ledger whose file is as it was, as far as they know, and tells more.
    private(set) var completed: [Change] = []
    /// Rows of vanished files that are back as they were.
    private(set) var returned: [PhotoRow] = []
    /// Rows without a file, and not known as vanished yet.
    private(set) var vanished: [PhotoRow] = []
    /// New or changed files that are not whole yet.
    private(set) var unsettled: [ScannedFile] = []
    /// Where in ``files`` those of them are that no row has the name of.
    private(set) var newlyHeld: [Int] = []
    /// Those of them that do not wait yet, by their rows.
    private(set) var held: [Change] = []
    /// Rows of files that were not whole, and are now.
    private(set) var released: [Release] = []
    private(set) var unchanged = 0
    /// Files that wait until somebody says which drive counts.
    private(set) var waiting = 0
    private(set) var firstWaiting: FilePath.Component?
    /// Rows of which nothing is stored, and whose file is seen on another drive than they tell; or on the one that is
    /// known of the place, where they tell none; or that were met while nothing told on which drive.
    private(set) var relocated: [Int64] = []
    private(set) var supposed: [Supposition] = []
    /// Rows of which a file on another drive counted as a copy, and none does any more: their own drive is there, or
    /// their own file was gone.
    private(set) var reclaimed: [Int64] = []
    /// The same where neither that drive nor the file is there.
    private(set) var withdrawn: [PhotoRow] = []

    /// Rows of which something is stored, or is to be, and where in ``files`` there is one of their name that is no copy
    /// of theirs: the photo as it was changed, or, on another drive, another photo. ``decide(on:_:)`` says which.
    private var namesakes: [(row: PhotoRow, index: Int)] = []
    /// Rows that tell of a file that is there, by what they know of where it is.
    private var seen: [Whereabouts: [Int64]] = [:]

    private struct Whereabouts: Hashable {
        let drive: Int64?
        let supposition: CopySupposition?
        /// Whether something is stored of the photo, whose own file may be there still.
        let hasContent: Bool
        let wasStored: Bool
        let isSameFile: Bool
        /// As ``FileStamp/isMet(as:)``.
        let isMet: Bool
        let isUntouched: Bool
    }

    let files: [ScannedFile]
    private var isKnown: [Bool]
    private var indexes: [[UInt8]: Int]

    /// Whether there is nothing to write.
    var isEmpty: Bool { isAsKnown && relocated.isEmpty && supposed.isEmpty && reclaimed.isEmpty && withdrawn.isEmpty }

    /// Whether all is as the ledger knows it, but perhaps for the drive.
    var isAsKnown: Bool {
        new.isEmpty && changed.isEmpty && completed.isEmpty && returned.isEmpty && vanished.isEmpty
            && newlyHeld.isEmpty && held.isEmpty && released.isEmpty && namesakes.isEmpty
    }

    /// Whether it makes a difference on which drive the files are. Where it makes none, nothing is concluded from what
    /// the ledger learns until it is written to: that is newer than the files.
    var dependsOnDrive: Bool { !vanished.isEmpty || !namesakes.isEmpty }

    /// Where in ``files`` those are that a look may tell to need no place in the queue.
    var worthReading: [Int] { new + released.filter(\.isOpen).map(\.index) }

    init(known: [PhotoRow], files: [ScannedFile], settled: (FileStamp) -> Bool) {
        self.init(files: files)
        for row in known { meet(row, settled) }
        finish(settled)
    }

    /// A plan that is still to ``meet(_:_:)`` each row of the directory, then to ``finish(_:)``, and to
    /// ``decide(on:_:)`` before it is carried out. Rows are not kept, but for those that something has to be done
    /// about: a folder of a million files is held once, and not three times.
    init(files: [ScannedFile]) {
        self.files = files
        isKnown = [Bool](repeating: false, count: files.count)
        indexes = Dictionary(minimumCapacity: files.count)
        for (index, file) in files.enumerated() { indexes[file.name.bytes] = index }
    }

    mutating func meet(_ row: PhotoRow, _ settled: (FileStamp) -> Bool) {
        guard let index = indexes[row.name] else {
            if row.isOnDisk { vanished.append(row) }
            return
        }
        isKnown[index] = true
        if row.isOtherPhotoElsewhere(files[index].stamp) {
            namesakes.append((row, index))
        } else {
            compare(row, with: index, settled)
        }
    }

    mutating func finish(_ settled: (FileStamp) -> Bool) {
        for (index, file) in files.enumerated() where !isKnown[index] {
            if settled(file.stamp) {
                new.append(index)
            } else {
                unsettled.append(file)
                newlyHeld.append(index)
            }
        }
        indexes = [:]
    }

    /// The one rule for photos of another drive than the one that is seen: what is not there is not gone, and what has
    /// the name of one, and is no copy of it, waits. What may be a copy is read (``CopySupposition``). Each row goes by
    /// its own drive; where that is not known, by what is known of the place.
    /// - Parameter drive: as it was when the files had been read.
    mutating func decide(on drive: DriveComparison, _ settled: (FileStamp) -> Bool) {
        for (row, index) in namesakes {
            if drive.isOther(row) {
                waiting += 1
                firstWaiting = firstWaiting ?? files[index].name
            } else {
                compare(row, with: index, settled)
            }
        }
        namesakes = []
        withdrawn = vanished.filter(drive.isWithdrawn)
        vanished.removeAll(where: drive.isOther)
        for (known, rows) in seen { place(rows, known, on: drive) }
        seen = [:]
    }

    private mutating func place(_ rows: [Int64], _ known: Whereabouts, on drive: DriveComparison) {
        // What was met while nothing told on which drive it is, is on the one that it is met on now.
        let isNamed = known.isMet && known.supposition == nil && drive.isNamed(known.drive)
        if known.hasContent, drive.isElsewhere(known.drive), !isNamed {
            // What is read on one that cannot be recognised later would count as a copy with each scan anew.
            guard !drive.isSupposed(known.supposition), drive.isLasting || !known.isSameFile else { return }
            supposed += rows.map {
                Supposition(id: $0, wasStored: known.wasStored, isUntouched: known.isUntouched)
            }
        } else {
            if drive.isNews(to: known.drive) { relocated += rows }
            if known.supposition?.isOpen == true, drive.isLasting { reclaimed += rows }
        }
    }

    /// - Returns: for each file why nothing is stored of it; empty where that is said of none.
    func skipped(_ why: (ScannedFile) -> SkipReason?) -> [SkipReason?] {
        var reasons: [SkipReason?] = []
        for index in worthReading {
            guard let reason = why(files[index]) else { continue }
            if reasons.isEmpty { reasons = Array(repeating: nil, count: files.count) }
            reasons[index] = reason
        }
        return reasons
    }

    private mutating func compare(_ row: PhotoRow, with index: Int, _ settled: (FileStamp) -> Bool) {
        let file = files[index]
        if row.isHeld, row.isOnDisk {
            if settled(file.stamp) {
                released.append(Release(row: row, index: index))
                note(row, file.stamp)
            } else {
                unsettled.append(file)
            }
        } else if file.stamp.isUntouched(since: row.stamp) || !row.isOnDisk && file.stamp.isAs(catalogued: row.stamp) {
            if row.stamp != file.stamp { completed.append(Change(row: row, stamp: file.stamp)) }
            if row.isOnDisk { unchanged += 1 } else { returned.append(row) }
            note(row, file.stamp)
        } else if settled(file.stamp) {
            changed.append(Change(row: row, stamp: file.stamp))
            note(row, file.stamp)
        } else {
            unsettled.append(file)
            // What waits already is not called safe.
            if row.state != .pending { held.append(Change(row: row, stamp: file.stamp)) }
            // The drive goes with the stamp. What is not in hand keeps the stamp of the file that was there before.
            if row.state == .uploading { note(row, file.stamp) }
        }
    }

    private mutating func note(_ row: PhotoRow, _ found: FileStamp) {
        let isSameFile = found.isSameFile(as: row.stamp)
        let isUntouched = found.isUntouched(since: row.stamp)
        let known = Whereabouts(
            drive: row.drive, supposition: row.supposition,
            hasContent: row.objectID != nil && (row.isOnDisk || row.isOnlyCatalogued), wasStored: row.isStored,
            isSameFile: isSameFile, isMet: found.isMet(as: row.stamp), isUntouched: isUntouched)
        seen[known, default: []].append(row.id)
    }
}

extension PhotoRow {
    /// Whether a file with the row's name and this stamp is another photo where it is on another drive. What was stored
    /// from there, or is being copied to it, and is written on is the same file. Where the file system does not tell
    /// when a file was made, it may be another one in that inode: then only what nothing is stored of counts as that.
    /// What a catalogue alone tells of may be on a drive that no scan has seen yet.
    fileprivate func isOtherPhotoElsewhere(_ found: FileStamp) -> Bool {
        guard isKept || isOnlyCatalogued else { return false }
        if supposition?.isDisproved(of: found) == true { return true }
        if found.mayBeCopy(of: stamp) { return false }
        return !found.isSameFile(as: stamp) || found.born == nil && objectID != nil
    }
}

/// The ledger's number for a directory in a watched folder.
package typealias DirectoryID = RowID<KnownDirectory>

/// What one look at a directory changed in the ledger. Counts are of files.
package struct DirectoryDifference: Hashable, Sendable {
    /// New ones, now pending or skipped.
    package var new: [ScannedFile] = []
    /// How many of them, and of the ``released`` ones, are skipped.
    package var skipped = 0
    /// Changed ones, pending again.
    package var changed = 0
    /// Known ones that have a new name or place.
    package var moved = 0
    /// Missing ones that are back, unchanged.
    package var returned = 0
    /// Known ones that are no longer there: missing when something of them is stored, else forgotten.
    package var missing = 0
    /// Of those that moved or are back, how many are pending now.
    package var requeued = 0
    package var unchanged = 0
    /// New or changed, and not whole yet: look again later. They are pending, and nobody claims them before.
    package var unsettled: [ScannedFile] = []
    /// How many of them were not pending before.
    package var held = 0
    /// Those that were not whole, and are now: pending, or skipped where nothing was ever stored of them.
    package var released = 0
    /// Those that have the name of a photo of another drive, are no copy of it, and change nothing.
    package var waiting = 0
    package var firstWaiting: FilePath.Component?
    /// The directory, for ``Ledger/finishScan(_:below:visited:unread:drive:stillThere:at:)``; `nil` when nothing is known
    /// in it.
    package var directoryID: DirectoryID?

    /// Whether anything was written.
    package var isEmpty: Bool { new.count + changed + moved + returned + missing + held + released == 0 }
}
