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
    /// - Parameters:
    ///   - directory: below the folder; empty for the folder itself.
    ///   - files: all regular files in it.
    ///   - settled: whether a new or changed file with this stamp is whole. It may be asked twice.
    ///   - hold: for how long at most one that is not is left alone, from now.
    ///   - stillThere: whether there is a file at an absolute path. It is asked only about photos that may have moved.
    ///   - whySkipped: why nothing is stored of a new file; `nil` where it has to be read for that. It is asked before
    ///     anything is written: what writes to the ledger waits for no disk.
    package func reconcile(
        _ folder: FolderID, directory: FilePath, files: [ScannedFile], settled: (FileStamp) -> Bool,
        holding hold: Duration = .seconds(10), stillThere: (FilePath) -> Bool,
        whySkipped: (ScannedFile) -> SkipReason? = { _ in nil }, at time: Date
    ) throws(LedgerError) -> DirectoryDifference {
        let operation = "reconcile a directory"
        // Most directories of a scan are as they were: a read does for them, and holds nobody up.
        let (seen, id) = try read(operation) { db in
            let path = try directory.relative(to: db.folder(folder).path)
            let id = try DirectoryTable(db).find(path, in: folder)
            return (try PhotoTable(db).plan(of: id, files, settled), id)
        }
        if seen.isEmpty { return DirectoryDifference(seen, directoryID: id) }
        let skipped = seen.skipped(whySkipped)
        return try write(operation) { db in
            let record = try db.folder(folder)
            let path = directory.relative(to: record.path)
            let id = try DirectoryTable(db).findOrAdd(path, in: folder)
            let plan = try PhotoTable(db).plan(of: id, files, settled)
            let names = Set(files.map(\.name.bytes))
            let intake = Intake(db: db, folder: record, directory: id, place: path, hold: hold, time: time)
            return try intake.carryOut(
                plan, isSeen: { $0.directoryID == id && names.contains($0.name) }, stillThere: stillThere,
                skipped: skipped)
        }
    }

    /// Makes the ledger know settled files: the rules of
    /// ``reconcile(_:directory:files:settled:holding:stillThere:whySkipped:at:)`` for each of them alone. What is new
    /// of many is written in groups, each in one transaction.
    package func sight(
        _ files: [SettledFile], stillThere: (FilePath) -> Bool,
        whySkipped: (SettledFile) -> SkipReason? = { _ in nil }, at time: Date
    ) throws(LedgerError) -> SightedFiles {
        var result = SightedFiles()
        for start in stride(from: 0, to: files.count, by: SettledFile.groupSize) {
            let group = files[start..<min(start + SettledFile.groupSize, files.count)]
            try sight(group: group, stillThere, whySkipped, time, &result)
        }
        return result
    }

    /// As ``sight(_:stillThere:whySkipped:at:)``, of one file.
    /// - Parameter file: below the folder.
    /// - Returns: whether the photo waits for its upload now.
    package func sight(
        _ folder: FolderID, file: FilePath, stamp: FileStamp, stillThere: (FilePath) -> Bool, at time: Date
    ) throws(LedgerError) -> Bool {
        try sight([SettledFile(folder: folder, path: file, stamp: stamp)], stillThere: stillThere, at: time).queued == 1
    }

    private func sight(
        group: ArraySlice<SettledFile>, _ stillThere: (FilePath) -> Bool,
        _ whySkipped: (SettledFile) -> SkipReason?, _ time: Date, _ result: inout SightedFiles
    ) throws(LedgerError) {
        let operation = "note files"
        // Where all is known, a read does, and holds nobody up.
        let (isKnown, pending, new) = try read(operation) { db in
            let sights = try group.map { try Sight($0, isWhole: true, in: db) }
            return (
                sights.allSatisfy(\.plan.isEmpty), try sights.compactMap { try $0.pending() },
                sights.map { !$0.plan.worthALook.isEmpty }
            )
        }
        if isKnown {
            result.note(pending)
            return
        }
        let reasons = zip(group, new).map { $1 ? whySkipped($0) : nil }
        let before = result
        result = try write(operation) { db in
            var result = before
            for (file, reason) in zip(group, reasons) {
                let sight = try Sight(file, isWhole: true, in: db)
                try sight.carryOut(stillThere: stillThere, skipped: reason, at: time, &result)
            }
            return result
        }
    }

    /// Makes the ledger know files that are not settled: the rules of
    /// ``reconcile(_:directory:files:settled:holding:stillThere:whySkipped:at:)`` for each of them alone, written in
    /// groups as by ``sight(_:stillThere:whySkipped:at:)``, which ends what this begins.
    /// - Parameter hold: for how long at most they are left alone, from now.
    package func hold(
        _ files: [SettledFile], for hold: Duration, stillThere: (FilePath) -> Bool, at time: Date
    ) throws(LedgerError) {
        let operation = "note files that are not whole"
        for start in stride(from: 0, to: files.count, by: SettledFile.groupSize) {
            let group = files[start..<min(start + SettledFile.groupSize, files.count)]
            let isKnown = try read(operation) { db in
                try group.allSatisfy { try Sight($0, isWhole: false, in: db).plan.isEmpty }
            }
            if isKnown { continue }
            try write(operation) { db in
                for file in group {
                    try Sight(file, isWhole: false, in: db).hold(for: hold, stillThere: stillThere, at: time)
                }
            }
        }
    }
}

/// A file that has not changed for a while, or is to be held until then, as it was looked at.
package struct SettledFile: Sendable {
    /// So many are noted in one transaction.
    static let groupSize = 256

    package let folder: FolderID
    /// Below the folder.
    package let path: FilePath
    package let stamp: FileStamp

    package init(folder: FolderID, path: FilePath, stamp: FileStamp) {
        self.folder = folder
        self.path = path
        self.stamp = stamp
    }
}

/// What has become of files that were noted.
package struct SightedFiles: Hashable, Sendable {
    /// Those that wait for their upload now.
    package var queued = 0
    /// New ones of which nothing is stored.
    package var skipped = 0
    /// The rows of those that were in the queue already, as they are, and wait for their next try.
    package var delayed: [Int64] = []

    fileprivate mutating func note(_ pending: [(id: Int64, isDelayed: Bool)]) {
        queued += pending.count
        delayed += pending.filter(\.isDelayed).map(\.id)
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

/// One file beside what is known of it.
private struct Sight {
    let plan: DirectoryPlan
    let known: PhotoRow?
    private let db: Database
    private let folder: FolderRecord
    private let place: FilePath
    private let file: ScannedFile

    init(_ file: SettledFile, isWhole: Bool, in db: Database) throws {
        guard let name = file.path.lastComponent else { throw UnnamedFile() }
        self.db = db
        self.file = ScannedFile(name: name, stamp: file.stamp)
        folder = try db.folder(file.folder)
        place = file.path.relative(to: folder.path).removingLastComponent()
        let row = try DirectoryTable(db).find(place, in: folder.id).flatMap {
            try PhotoTable(db).row(in: $0, named: name)
        }
        known = row
        plan = DirectoryPlan(known: row.map { [$0] } ?? [], files: [self.file], settled: { _ in isWhole })
    }

    /// The row of a photo that is in the queue already, as it is.
    func pending() throws -> (id: Int64, isDelayed: Bool)? {
        guard plan.isEmpty, let known, known.state == .pending else { return nil }
        let next = try db.number("SELECT next_try_at FROM photos WHERE id = ?", [known.id]) ?? 0
        return (known.id, next > 0)
    }

    func carryOut(
        stillThere: (FilePath) -> Bool, skipped reason: SkipReason?, at time: Date, _ result: inout SightedFiles
    ) throws {
        if plan.isEmpty {
            if let pending = try pending() { result.note([pending]) }
            return
        }
        let id = try DirectoryTable(db).findOrAdd(place, in: folder.id)
        let difference = try carryOut(in: id, holding: .zero, stillThere: stillThere, skipped: [reason], at: time)
        result.skipped += difference.skipped
        if try PhotoTable(db).row(in: id, named: file.name)?.state == .pending { result.queued += 1 }
    }

    func hold(for hold: Duration, stillThere: (FilePath) -> Bool, at time: Date) throws {
        if plan.isEmpty { return }
        let id = try DirectoryTable(db).findOrAdd(place, in: folder.id)
        _ = try carryOut(in: id, holding: hold, stillThere: stillThere, skipped: [], at: time)
    }

    private func carryOut(
        in id: DirectoryID, holding hold: Duration, stillThere: (FilePath) -> Bool, skipped: [SkipReason?],
        at time: Date
    ) throws -> DirectoryDifference {
        let intake = Intake(db: db, folder: folder, directory: id, place: place, hold: hold, time: time)
        return try intake.carryOut(
            plan, isSeen: { $0.directoryID == id && $0.name == file.name.bytes }, stillThere: stillThere,
            skipped: skipped)
    }
}

/// A path that names no file.
private struct UnnamedFile: Error {}

/// Carries out a plan inside a transaction.
private struct Intake {
    let db: Database
    let folder: FolderRecord
    let directory: DirectoryID
    /// Of the directory, below the folder.
    let place: FilePath
    let hold: Duration
    let time: Date

    private var heldUntil: Date { time.addingTimeInterval(hold / .seconds(1)) }

    /// - Parameters:
    ///   - isSeen: whether a row's own file is among those that the plan was made of.
    ///   - skipped: for each of those files why nothing is stored of it; empty where nothing is skipped.
    func carryOut(
        _ plan: DirectoryPlan, isSeen: (PhotoRow) -> Bool, stillThere: (FilePath) -> Bool, skipped: [SkipReason?]
    ) throws -> DirectoryDifference {
        let table = PhotoTable(db)
        var difference = DirectoryDifference(plan, directoryID: directory)
        // Renames first: the row that moves may be one of those that vanished here.
        var moved: Set<Int64> = []
        let finder = RenameFinder(db: db)
        for index in plan.new {
            let file = plan.files[index]
            if let origin = try finder.origin(of: file.stamp, except: isSeen, stillThere: stillThere) {
                if try move(origin, to: file) { difference.requeued += 1 }
                moved.insert(origin.row.id)
                difference.moved += 1
            } else {
                let reason = skipped.isEmpty ? nil : skipped[index]
                try table.insert(file, in: directory, of: folder.id, skipped: reason, at: time)
                difference.new.append(file)
                if reason != nil { difference.skipped += 1 }
            }
        }
        for index in plan.newlyHeld {
            let file = plan.files[index]
            if let origin = try finder.origin(of: file.stamp, except: isSeen, stillThere: stillThere) {
                _ = try move(origin, to: file, isWhole: false)
                moved.insert(origin.row.id)
                difference.moved += 1
            } else if folder.filter.exclusion(of: place.appending(file.name)) == nil {
                try table.insert(file, in: directory, of: folder.id, heldUntil: heldUntil, at: time)
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
        for row in plan.returned where try table.bringBack(row, at: time) { difference.requeued += 1 }
        for row in plan.vanished where !moved.contains(row.id) {
            try table.vanish(row, at: time)
            difference.missing += 1
        }
        if try DirectoryTable(db).removeIfEmpty(directory) { difference.directoryID = nil }
        return difference
    }

    /// - Returns: whether the photo waits for its upload, and did not before.
    private func move(_ origin: RenameFinder.Origin, to file: ScannedFile, isWhole: Bool = true) throws -> Bool {
        let table = PhotoTable(db)
        var isPending = try table.move(origin.row, to: directory, of: folder.id, named: file.name, at: time)
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
            unsettled: plan.unsettled, directoryID: directoryID)
    }
}

extension Ledger {
    /// A file, or a directory with all below it, is no longer there: its photos are missing, or forgotten when nothing
    /// of them is stored.
    /// - Parameter path: below the folder. Empty, it is the folder itself: the caller has made sure of that.
    /// - Returns: how many photos that concerned.
    @discardableResult
    package func markGone(_ folder: FolderID, path gone: FilePath, at time: Date) throws(LedgerError) -> Int {
        try write("note that files are gone") { db in
            let path = try gone.relative(to: db.folder(folder).path)
            let directories = DirectoryTable(db)
            var count = 0
            if let name = path.lastComponent,
                let parent = try directories.find(path.removingLastComponent(), in: folder),
                let row = try PhotoTable(db).row(in: parent, named: name)
            {
                count += try db.vanish([row], of: parent, at: time)
            }
            for directory in try directories.subtree(path, in: folder) {
                count += try db.vanish(PhotoTable(db).rows(in: directory.id), of: directory.id, at: time)
            }
            return count
        }
    }

    /// Ends a scan: the directories that it did not meet are no longer there.
    ///
    /// Call it before the hints that came during the scan are worked off, or add the directories of the files they
    /// named to `visited`.
    /// - Parameters:
    ///   - start: where the scan began, below the folder; empty for the folder itself.
    ///   - visited: the directories that it met, as ``DirectoryDifference/directoryID`` named them.
    ///   - unread: directories that could not be read: nothing is concluded about them and what is below them.
    ///   - stillThere: whether there is a directory at an absolute path. It is asked about those that were not met: one
    ///     that appeared during the scan is left alone.
    /// - Returns: how many photos were missing.
    @discardableResult
    package func finishScan(
        _ folder: FolderID, below start: FilePath, visited: Set<DirectoryID>, unread: [FilePath] = [],
        stillThere: (FilePath) -> Bool = { _ in false }, at time: Date
    ) throws(LedgerError) -> Int {
        let operation = "finish a scan"
        let (root, candidates) = try read(operation) { db in
            let root = try db.folder(folder).path
            let excluded = unread.map { $0.relative(to: root) }
            let met = try DirectoryTable(db).subtree(start.relative(to: root), in: folder)
            let candidates = try met.filter { directory in
                try !visited.contains(directory.id) && !excluded.contains { directory.path.starts(with: $0) }
                    && PhotoTable(db).rows(in: directory.id).contains(where: \.isOnDisk)
            }
            return (root, candidates)
        }
        let gone = candidates.filter { !stillThere(root.pushing($0.path)) }
        guard !gone.isEmpty else { return 0 }
        return try write(operation) { db in
            try gone.reduce(0) { count, directory in
                try count + db.vanish(PhotoTable(db).rows(in: directory.id), of: directory.id, at: time)
            }
        }
    }
}
