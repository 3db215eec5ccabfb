package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// Makes the ledger know settled files: the rules of
    /// ``reconcile(_:directory:files:drive:settled:holding:stillThere:whySkipped:at:)`` for each of them alone. What is
    /// new of many is written in groups, each in one transaction.
    /// - Parameter drive: on which drive a file is. It is asked before anything is written.
    package func observe(
        _ files: [SettledFile], drive: (SettledFile) throws(LedgerError) -> SeenDrive,
        stillThere: (FilePath) -> Bool, whySkipped: (SettledFile) -> SkipReason? = { _ in nil }, at time: Date
    ) throws(LedgerError) -> ObservedFiles {
        var result = ObservedFiles()
        for start in stride(from: 0, to: files.count, by: SettledFile.groupSize) {
            let group = files[start..<min(start + SettledFile.groupSize, files.count)]
            try observe(group: group, drive, stillThere, whySkipped, time, &result)
        }
        return result
    }

    private func observe(
        group: ArraySlice<SettledFile>, _ drive: (SettledFile) throws(LedgerError) -> SeenDrive,
        _ stillThere: (FilePath) -> Bool, _ whySkipped: (SettledFile) -> SkipReason?, _ time: Date,
        _ result: inout ObservedFiles
    ) throws(LedgerError) {
        let operation = "note files"
        let plans = try plans(of: group, isWhole: true, drive, operation)
        // Where all is known, a read does, and holds nobody up.
        if plans.allSatisfy(\.plan.isEmpty) {
            for planned in plans { result.note(planned) }
            return
        }
        let gone = plans.gone(stillThere)
        let reasons = zip(group, plans).map { $1.plan.worthReading.isEmpty ? nil : whySkipped($0) }
        let before = result
        result = try write(operation) { db in
            var result = before
            let drives = try DriveTable(db).all()
            for (planned, reason) in zip(plans, reasons) {
                let observation = try FileObservation(planned, isWhole: true, among: drives, in: db)
                try observation.carryOut(gone: gone, skipped: reason, at: time, &result)
            }
            return result
        }
    }

    /// Makes the ledger know files that are not settled: the rules of
    /// ``reconcile(_:directory:files:drive:settled:holding:stillThere:whySkipped:at:)`` for each of them alone, written
    /// in groups as by ``observe(_:drive:stillThere:whySkipped:at:)``, which ends what this begins.
    /// - Parameters:
    ///   - hold: for how long at most they are left alone, from now.
    ///   - drive: as there.
    package func hold(
        _ files: [SettledFile], for hold: Duration, drive: (SettledFile) throws(LedgerError) -> SeenDrive,
        stillThere: (FilePath) -> Bool, at time: Date
    ) throws(LedgerError) {
        let operation = "note files that are not whole"
        for start in stride(from: 0, to: files.count, by: SettledFile.groupSize) {
            let group = files[start..<min(start + SettledFile.groupSize, files.count)]
            let plans = try plans(of: group, isWhole: false, drive, operation)
            if plans.allSatisfy(\.plan.isEmpty) { continue }
            let gone = plans.gone(stillThere)
            try write(operation) { db in
                let drives = try DriveTable(db).all()
                for planned in plans {
                    let observation = try FileObservation(planned, isWhole: false, among: drives, in: db)
                    try observation.hold(for: hold, gone: gone, at: time)
                }
            }
        }
    }

    /// What is to be done about files, as far as the ledger knows them now.
    private func plans(
        of group: ArraySlice<SettledFile>, isWhole: Bool, _ drive: (SettledFile) throws(LedgerError) -> SeenDrive,
        _ operation: String
    ) throws(LedgerError) -> [PlannedFile] {
        var seen: [SeenDrive] = []
        for file in group { seen.append(try drive(file)) }
        return try read(operation) { db in
            let drives = try DriveTable(db).all()
            return try zip(group, seen).map { file, drive in
                let observation = try FileObservation(file, isWhole: isWhole, on: drive, among: drives, in: db)
                return PlannedFile(
                    file: file, plan: observation.plan, drive: drive, dependsOnDrive: observation.dependsOnDrive,
                    pending: try observation.pending(), places: try observation.places())
            }
        }
    }
}

/// A file beside what was known of it before anything is written.
private struct PlannedFile {
    let file: SettledFile
    let plan: DirectoryPlan
    let drive: SeenDrive
    let dependsOnDrive: Bool
    /// As ``FileObservation/pending()`` tells.
    let pending: (id: Int64, isDelayed: Bool)?
    /// Where its file may have been.
    let places: [FilePath]
}

extension [PlannedFile] {
    /// As ``RenameFinder/origin(of:except:gone:)`` takes it.
    fileprivate func gone(_ stillThere: (FilePath) -> Bool) -> Set<FilePath> {
        Set(flatMap(\.places).filter { !stillThere($0) })
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
package struct ObservedFiles: Hashable, Sendable {
    /// Those that wait for their upload now.
    package var queued = 0
    /// New ones of which nothing is stored.
    package var skipped = 0
    /// The rows of those that were in the queue already, as they are, and wait for their next try.
    package var delayed: [Int64] = []
    /// Those that have a known name and another size or time on another drive, and change nothing until somebody says
    /// which drive counts.
    package var waiting = 0

    fileprivate mutating func note(_ planned: PlannedFile) {
        waiting += planned.plan.waiting
        if let pending = planned.pending { note(pending) }
    }

    fileprivate mutating func note(_ pending: (id: Int64, isDelayed: Bool)) {
        queued += 1
        if pending.isDelayed { delayed.append(pending.id) }
    }
}

/// One file beside what is known of it.
private struct FileObservation {
    let plan: DirectoryPlan
    /// As ``DirectoryPlan/dependsOnDrive`` tells of a plan before it is decided.
    let dependsOnDrive: Bool
    let known: PhotoRow?
    private let db: Database
    private let folder: FolderRecord
    private let place: FilePath
    private let file: ScannedFile
    private let drive: DriveComparison

    /// One that was looked at before.
    init(_ planned: PlannedFile, isWhole: Bool, among drives: [Int64: DriveIdentity], in db: Database) throws {
        try self.init(
            planned.file, isWhole: isWhole, on: planned.drive, isConclusive: planned.dependsOnDrive, among: drives,
            in: db)
    }

    init(
        _ file: SettledFile, isWhole: Bool, on drive: SeenDrive, isConclusive: Bool = true,
        among drives: [Int64: DriveIdentity], in db: Database
    ) throws {
        guard let name = file.path.lastComponent else { throw UnnamedFile() }
        self.db = db
        self.file = ScannedFile(name: name, stamp: file.stamp)
        folder = try db.folder(file.folder)
        place = file.path.relative(to: folder.path).removingLastComponent()
        let row = try DirectoryTable(db).find(place, in: folder.id).flatMap {
            try PhotoTable(db).row(in: $0, named: name)
        }
        known = row
        var plan = DirectoryPlan(known: row.map { [$0] } ?? [], files: [self.file], settled: { _ in isWhole })
        dependsOnDrive = plan.dependsOnDrive
        self.drive = DriveComparison(drive, in: place, among: drives, isConclusive: isConclusive)
        plan.decide(on: self.drive) { _ in isWhole }
        self.plan = plan
    }

    /// The row of a photo that is in the queue already, as it is.
    func pending() throws -> (id: Int64, isDelayed: Bool)? {
        guard plan.isAsKnown, plan.waiting == 0, let known, known.state == .pending else { return nil }
        let next = try db.number("SELECT next_try_at FROM photos WHERE id = ?", [known.id]) ?? 0
        return (known.id, next > 0)
    }

    func places() throws -> [FilePath] { try RenameFinder(db: db).places(for: plan, in: nil) }

    func carryOut(
        gone: Set<FilePath>, skipped reason: SkipReason?, at time: Date, _ result: inout ObservedFiles
    ) throws {
        result.waiting += plan.waiting
        let pending = try pending()
        if let pending { result.note(pending) }
        if plan.isEmpty { return }
        let id = try DirectoryTable(db).findOrAdd(place, in: folder.id)
        let difference = try carryOut(in: id, holding: .zero, gone: gone, skipped: [reason], at: time)
        result.skipped += difference.skipped
        if pending != nil { return }
        if try PhotoTable(db).row(in: id, named: file.name)?.state == .pending { result.queued += 1 }
    }

    func hold(for hold: Duration, gone: Set<FilePath>, at time: Date) throws {
        if plan.isEmpty { return }
        let id = try DirectoryTable(db).findOrAdd(place, in: folder.id)
        _ = try carryOut(in: id, holding: hold, gone: gone, skipped: [], at: time)
    }

    private func carryOut(
        in id: DirectoryID, holding hold: Duration, gone: Set<FilePath>, skipped: [SkipReason?], at time: Date
    ) throws -> DirectoryDifference {
        let intake = DirectoryPlanWriter(
            db: db, folder: folder, directory: id, place: place, drive: drive, hold: hold, time: time)
        return try intake.carryOut(
            plan, isSeen: { $0.directoryID == id && $0.name == file.name.bytes }, gone: gone, skipped: skipped)
    }
}

/// A path that names no file.
private struct UnnamedFile: Error {}
