package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// Makes the ledger agree with what a directory holds. When it does already, nothing is written.
    ///
    /// - A new settled file is pending, or skipped where a look at it tells why. One that is a known photo under a new name
    ///   (``RenameFinder``) keeps the photo's row and what is stored of it; it is pending again where its stamp does not
    ///   prove that it has the same content, or where the key is made of the name (projects).
    /// - A settled file with another stamp is pending again, in a new generation.
    /// - A new or changed file that is not settled is pending, too, and not claimed for a while: what was seen and is
    ///   not stored is never called safe. Once it is settled, it has its place in the queue, or none.
    /// - A file with the stamp that an older version has noted, which lacks two times, lends them to the row.
    /// - A missing photo that is back with its old stamp is what it was.
    /// - A known photo without a file is missing, or forgotten when nothing of it is stored.
    /// - A photo of another drive than the one that is seen is what it was without a file, and a file that has its name
    ///   and another size or time waits: it changes nothing.
    /// - A photo whose file is seen is known to be on that drive. One of which something is stored, and which was found
    ///   on another drive, is pending, and stays known there until the file is read (``CopySupposition``).
    /// - Parameters:
    ///   - directory: below the folder; empty for the folder itself.
    ///   - files: all regular files in it.
    ///   - drive: on which drive they are. It is asked once, after the files were read and before anything is written.
    ///   - settled: whether a new or changed file with this stamp is whole. It may be asked twice.
    ///   - hold: for how long at most one that is not is left alone, from now.
    ///   - stillThere: whether there is a file at an absolute path. It is asked only about photos that may have moved,
    ///     and before anything is written.
    ///   - whySkipped: why nothing is stored of a new file; `nil` where it has to be read for that. It is asked before
    ///     anything is written: what writes to the ledger waits for no disk.
    package func reconcile(
        _ folder: FolderID, directory: FilePath, files: [ScannedFile], drive: () -> SeenDrive = { .known },
        settled: (FileStamp) -> Bool, holding hold: Duration = .seconds(10), stillThere: (FilePath) -> Bool,
        whySkipped: (ScannedFile) -> SkipReason? = { _ in nil }, at time: Date
    ) throws(LedgerError) -> DirectoryDifference {
        let operation = "reconcile a directory"
        // Most directories of a scan are as they were: a read does for them, and holds nobody up.
        let (found, places, id, path, drives) = try read(operation) { db in
            let path = try directory.relative(to: db.folder(folder).path)
            let id = try DirectoryTable(db).find(path, in: folder)
            let plan = try PhotoTable(db).plan(of: id, files, settled)
            let places = try RenameFinder(db: db).places(for: plan, in: id)
            return (plan, places, id, path, try DriveTable(db).all())
        }
        var seen = found
        let (seenDrive, dependsOnDrive) = (drive(), seen.dependsOnDrive)
        seen.decide(on: DriveComparison(seenDrive, in: path, among: drives), settled)
        if seen.isEmpty { return DirectoryDifference(seen, directoryID: id) }
        let gone = Set(places.filter { !stillThere($0) })
        let skipped = seen.skipped(whySkipped)
        return try write(operation) { db in
            let record = try db.folder(folder)
            let path = directory.relative(to: record.path)
            let id = try DirectoryTable(db).findOrAdd(path, in: folder)
            var plan = try PhotoTable(db).plan(of: id, files, settled)
            let comparison = DriveComparison(
                seenDrive, in: path, among: try DriveTable(db).all(), isConclusive: dependsOnDrive)
            plan.decide(on: comparison, settled)
            let names = Set(files.map(\.name.bytes))
            let intake = DirectoryPlanWriter(
                db: db, folder: record, directory: id, place: path, drive: comparison, hold: hold, time: time)
            return try intake.carryOut(
                plan, isSeen: { $0.directoryID == id && names.contains($0.name) }, gone: gone, skipped: skipped)
        }
    }
}

/// Why nothing is stored of a file.
package struct SkipReason: Hashable, Sendable {
    /// In plain words.
    package let words: String
    /// `nil` for what its owner does not count on.
    package let kind: LeftOut?

    package init(_ words: String, _ kind: LeftOut? = nil) {
        self.words = words
        self.kind = kind
    }
}

/// Carries out a plan inside a transaction.
struct DirectoryPlanWriter {
    let db: Database
    let folder: FolderRecord
    let directory: DirectoryID
    /// Of the directory, below the folder.
    let place: FilePath
    /// On which its files are.
    let drive: DriveComparison
    let hold: Duration
    let time: Date

    private var heldUntil: Date { time.addingTimeInterval(hold / .seconds(1)) }

    /// - Parameters:
    ///   - isSeen: whether a row's own file is among those that the plan was made of.
    ///   - gone: as ``RenameFinder/origin(of:except:gone:)`` takes it.
    ///   - skipped: for each of those files why nothing is stored of it; empty where nothing is skipped.
    func carryOut(
        _ plan: DirectoryPlan, isSeen: (PhotoRow) -> Bool, gone: Set<FilePath>, skipped: [SkipReason?]
    ) throws -> DirectoryDifference {
        let table = PhotoTable(db)
        let driveID = try DriveTable(db).id(of: drive.seen)
        var difference = DirectoryDifference(plan, directoryID: directory)
        // Renames first: the row that moves may be one of those that vanished here.
        var moved: Set<Int64> = []
        let finder = RenameFinder(db: db)
        for index in plan.new {
            let file = plan.files[index]
            if let origin = try origin(of: file.stamp, finder, except: isSeen, gone) {
                if try move(origin, to: file, on: driveID) { difference.requeued += 1 }
                moved.insert(origin.row.id)
                difference.moved += 1
            } else {
                let reason = skipped.isEmpty ? nil : skipped[index]
                try table.insert(file, in: directory, of: folder.id, on: driveID, skipped: reason, at: time)
                difference.new.append(file)
                if reason != nil { difference.skipped += 1 }
            }
        }
        for index in plan.newlyHeld {
            let file = plan.files[index]
            if let origin = try origin(of: file.stamp, finder, except: isSeen, gone) {
                _ = try move(origin, to: file, on: driveID, isWhole: false)
                moved.insert(origin.row.id)
                difference.moved += 1
            } else if folder.filter.exclusion(of: place.appending(file.name)) == nil {
                try table.insert(file, in: directory, of: folder.id, on: driveID, heldUntil: heldUntil, at: time)
                difference.held += 1
            }
        }
        for change in plan.held {
            try table.hold(change.row, stamp: change.stamp, until: heldUntil, at: time)
            difference.held += 1
        }
        for release in plan.released {
            try table.release(release.row, stamp: plan.files[release.index].stamp, at: time)
            difference.released += 1
            if release.isOpen, !skipped.isEmpty, let reason = skipped[release.index] {
                try table.skip(release.row.id, reason)
                difference.skipped += 1
            }
        }
        for change in plan.completed {
            try table.complete(change.row, stamp: change.stamp)
            if !change.row.isOnDisk, !change.stamp.isUntouched(since: change.row.stamp) {
                try table.noteMatched(change.row)
            }
        }
        for change in plan.changed { try table.repend(change.row, stamp: change.stamp, at: time) }
        for row in plan.returned where try table.markPresent(row, at: time) { difference.requeued += 1 }
        for row in plan.relocated { try table.note(drive: driveID, isOfPlace: drive.isOfPlace, of: row) }
        for photo in plan.supposed {
            try db.suppose(copyOf: photo.id, on: driveID, wasStored: photo.wasStored, at: time)
            if photo.isUntouched { difference.requeued += 1 }
        }
        if !plan.supposed.isEmpty {
            // Whoever sees the own drive again is to compare the files, though they are as they were.
            try db.run("UPDATE directories SET digest = NULL WHERE id = ?", [directory.rawValue])
        }
        for row in plan.reclaimed { try db.reclaim(row, at: time) }
        for row in plan.withdrawn { try db.withdrawCopy(of: row) }
        for row in plan.vanished where !moved.contains(row.id) {
            try table.vanish(row, at: time)
            difference.missing += 1
        }
        if try DirectoryTable(db).removeIfEmpty(directory) { difference.directoryID = nil }
        return difference
    }

    /// No file is renamed from one drive to another, whatever the stamps say. Of photos in other watched folders this
    /// folder's drives tell nothing.
    private func origin(
        of stamp: FileStamp, _ finder: RenameFinder, except isSeen: (PhotoRow) -> Bool, _ gone: Set<FilePath>
    ) throws -> RenameFinder.Origin? {
        try finder.origin(
            of: stamp,
            except: { row in
                // The stamp of a photo that waits for a copy to be read is that of the copy.
                let isOfCopy = row.supposition?.isOpen == true && drive.isElsewhere(row.drive)
                return isSeen(row) || row.folderID == folder.id && (isOfCopy || drive.isKnownElsewhere(row.drive))
            },
            gone: gone)
    }

    /// - Returns: whether the photo waits for its upload, and did not before.
    private func move(
        _ origin: RenameFinder.Origin, to file: ScannedFile, on driveID: Int64?, isWhole: Bool = true
    ) throws -> Bool {
        let table = PhotoTable(db)
        var isPending = try table.move(origin.row, to: directory, of: folder.id, named: file.name, at: time)
        if drive.isNews(to: origin.row.drive) {
            try table.note(drive: driveID, isOfPlace: drive.isOfPlace, of: origin.row.id)
        }
        // What was left out where it was may be stored where it is now.
        let isFiltered = try db.number("SELECT is_filtered FROM photos WHERE id = ?", [origin.row.id]) == 1
        let isOther = isFiltered || !origin.isProved || !origin.kind.isPooled || !folder.kind.isPooled
        // One that was not whole is, in its new place.
        if isOther || isWhole && origin.row.isHeld {
            try table.repend(origin.row, stamp: file.stamp, heldUntil: isWhole ? nil : heldUntil, at: time)
            isPending = true
        }
        if origin.row.directoryID != directory { try DirectoryTable(db).removeIfEmpty(origin.row.directoryID) }
        return isPending
    }
}

extension DirectoryDifference {
    fileprivate init(_ plan: DirectoryPlan, directoryID: DirectoryID?) {
        self.init(
            changed: plan.changed.count, returned: plan.returned.count, unchanged: plan.unchanged,
            unsettled: plan.unsettled, waiting: plan.waiting, firstWaiting: plan.firstWaiting, directoryID: directoryID)
    }
}
