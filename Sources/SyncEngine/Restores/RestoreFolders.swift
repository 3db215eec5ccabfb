package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Finds the folders that restore jobs save their photos in, and puts their files there and away (``RestoreFolder``).
package struct RestoreFolders: Sendable {
    enum Finding: Sendable {
        case here(RestoreFolder)
        /// Nothing of the job can be saved now, and why.
        case away(String)
        /// Another process has saved the last of the job.
        case over
    }

    private static let pageSize = 100
    /// Files that have the names of saved photos and are none of them: where there are so many, the rest is not read.
    private static let mostOthers = 100

    private let ledger: LedgerQueue
    private let owner: ClaimOwner
    private let pool: BlockingPool
    private let time: TimeSource
    private let calls: Folder.Calls
    /// Files that are still there, and of which it is on the disk that their jobs are over.
    private let settled = Lock<Set<FilePath>>([])

    /// - Parameter pool: for what waits for the disk.
    package init(
        ledger: LedgerQueue, owner: ClaimOwner, pool: BlockingPool, time: TimeSource,
        calls: Folder.Calls = Folder.Calls()
    ) {
        self.ledger = ledger
        self.owner = owner
        self.pool = pool
        self.time = time
        self.calls = calls
    }

    // MARK: Before a job is made

    /// Makes the folder that a job is to save in, and puts the job's file there, before the job is written down and anything
    /// is asked for: a drive that is taken out in the hours that the store needs is told from the place where it was mounted.
    /// - Returns: what the job is made of. Where none comes of it, see ``cancel(_:)``.
    /// - Throws: ``FolderError``; ``DownloadError`` when no file can be put there; ``LedgerError``; `CancellationError`.
    ///   Nothing was made then.
    package func reserve(_ output: FilePath) async throws -> RestoreReservation {
        try await leaveEnded()
        let missing = try await pool.run { try Folder.missing(on: output).count }
        var reservation = try await ledger { [owner, time] in
            try $0.reserveRestore(in: output, makingFolders: missing, by: owner.name, at: time.now())
        }
        let folder = RestoreFolder(reservation)
        var isPut = false
        do {
            reservation.madeFolders = try await pool.run { [calls] in try folder.put(calls) }
            isPut = true
            try await pool.run { try folder.sync() }
            return reservation
        } catch {
            // What was not put is not looked for on a drive that is away.
            if isPut { await cancel(reservation) } else { await giveUp(reservation) }
            throw (error as? Errno).map { DownloadError($0, output) } ?? error
        }
    }

    /// Whether nothing is there. Where nobody can look, something may be.
    private static func isMissing(_ path: FilePath) -> Bool {
        do {
            return try FileStatus.find(path, followsLinks: true) == nil
        } catch {
            return false
        }
    }

    /// Takes back what ``reserve(_:)`` has made, where no job came of it. What is on a drive that is away is taken back later,
    /// unless another has given it up meanwhile.
    package func cancel(_ reservation: RestoreReservation) async {
        let isMade = try? await ledger.finish { try $0.restoreJob(reservation.job)?.job.mark == reservation.mark }
        guard isMade == false else { return }
        let removal = await pool.finish {
            let removal = RestoreFolder.remove(RestoreFolder(reservation).file)
            // What somebody has put something into meanwhile stays, and so does what has only the path of ours: the place where
            // its drive was mounted.
            if removal == .done { Folder.removeEmpty(reservation.folder, count: reservation.madeFolders) }
            return removal
        }
        if removal != .pending { await giveUp(reservation) }
    }

    private func giveUp(_ reservation: RestoreReservation) async {
        try? await ledger.finish { try $0.cancel(reservation) }
    }

    /// Hidden files in a folder that are those of jobs which this ledger does not have: of another machine, or of a state
    /// folder that is gone. Nobody here can tell which, so that they are left.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func strangers(in output: FilePath) async throws -> [FilePath.Component] {
        let names = try await pool.run { (try? Folder.names(in: output)) ?? [] }
        let marks = names.filter(RestoreJobID.isMark)
        if marks.isEmpty { return [] }
        let known = try await ledger { try $0.restoreMarks() }
        return marks.filter { !known.contains($0) }.sorted { $0.string < $1.string }
    }

    // MARK: A job's folder

    /// The folder of a job. That of a job of an older version, which has no file yet, is made where nothing was saved in it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func find(_ output: FilePath, of summary: RestoreJobSummary) async throws -> Finding {
        let job = summary.job
        guard let mark = job.mark else { return .over }
        let folder = RestoreFolder(path: output, job: job.id, mark: mark)
        do {
            let isInPlace = try await pool.run { try folder.isInPlace() }
            if isInPlace, job.isMarked { return .here(folder) }
            if !isInPlace {
                let isTheOne = try await mayBeTaken(folder, summary)
                if !isTheOne { return try await isOver(job.id) ? .over : .away(folder.absence) }
            }
            try await pool.run {
                try folder.put()
                try folder.sync()
            }
            // Before the first photo gets its name: whoever is killed then knows where it is.
            if try await ledger({ try $0.noteMark(of: job.id, in: output) }) { return .here(folder) }
            _ = try await takeAway(folder.file)
            return .over
        } catch let error as Errno {
            return .away(folder.refusal(error))
        } catch let error as FolderError {
            return .away("\(error)")
        }
    }

    /// Whether nothing more of a job is to be saved, so that its file is taken away just now, or was.
    func isOver(_ job: RestoreJobID) async throws -> Bool {
        try await ledger { ledger in
            let mark = try ledger.restoreJob(job)?.job.mark
            return try mark == nil || ledger.endedRestoreMarks().contains { $0.job == job }
        }
    }

    /// Takes the files of jobs away of which nothing more is to be saved, and what processes have left that were killed before
    /// there was a job. Where the folder is not there, its drive is away: the file is looked for again by the next that comes.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func leaveEnded() async throws {
        let abandoned = try await ledger { [owner, time] in
            try $0.abandonedReservations(of: owner.hasEnded, at: time.now())
        }
        for reservation in abandoned { await cancel(reservation) }
        // What one had in hand that was killed keeps no file.
        try await ledger { [owner] in try $0.releaseRestoreClaims(of: owner.hasEnded) }
        let ended = try await ledger { try $0.endedRestoreMarks() }
        settled.withLock { $0.formIntersection(ended.map(\.file)) }
        for mark in ended {
            try await discardParts(of: mark)
            let removal = try await takeAway(mark.file)
            // Nothing was saved: as if it had never been asked for.
            if removal == .done {
                try await pool.run { Folder.removeEmpty(mark.file.removingLastComponent(), count: mark.madeFolders) }
            }
            if removal != .pending { try await ledger { try $0.noteMarkRemoved(of: mark.job) } }
        }
    }

    /// Removes what killed processes have begun of photos that are given up: nobody goes on from it. What somebody is
    /// at stays. The job's file, which goes next, tells that the folder is the one.
    private func discardParts(of mark: EndedRestoreMark) async throws {
        // Once by this process, as in `takeAway(_:)`.
        if settled.withLock({ $0.contains(mark.file) }) { return }
        let isThere = try await pool.run { FileStamp.ofFile(mark.file) != nil }
        guard isThere else { return }
        let summary = try await ledger { try $0.restoreJob(mark.job) }
        guard summary?.job.stoppedOutput != nil else { return }
        let folder = mark.file.removingLastComponent()
        let pages = LedgerPages(ledger: ledger, place: \RestoreItem.id) {
            try $0.restoreItems(of: mark.job, after: $1 ?? 0, limit: Self.pageSize)
        }
        for try await page in pages {
            let places = page.filter(\.isGivenUp).flatMap(\.places)
            let files = places.filter { $0.destination.isBelowAnyFolder }.map { folder.pushing($0.destination) }
            // What cannot be removed harms nobody.
            try await pool.run { for file in files { try? NewFile.discard(for: file) } }
        }
    }

    /// Takes the file of a job away that is over. That it is over is on the disk before: a power failure that takes it back
    /// would leave a job that has photos to save, and no folder.
    private func takeAway(_ file: FilePath) async throws -> RestoreFolder.Removal {
        // One on a drive that is away is looked for again and again, and costs no commit. One that its disk does not
        // let go costs one.
        let isThere = try await pool.run { !Self.isMissing(file) }
        if isThere, !settled.withLock({ $0.contains(file) }) {
            try await ledger { try $0.makeDurable() }
            settled.withLock { _ = $0.insert(file) }
        }
        return try await pool.run { RestoreFolder.remove(file) }
    }

    /// Whether a folder without the job's file is the one all the same: nothing was saved yet; or people have deleted the
    /// file, and a photo that was saved is there.
    private func mayBeTaken(_ folder: RestoreFolder, _ summary: RestoreJobSummary) async throws -> Bool {
        let isMarked = summary.job.isMarked
        if summary.saved == 0, !isMarked { return true }
        let path = folder.path
        guard let names = try await pool.run({ try Folder.names(in: path) }) else { return false }
        // Older versions put no file there, and the place where a drive was mounted is empty.
        if !isMarked, !names.isEmpty { return true }
        return try await holdsPhoto(of: summary.job.id, path)
    }

    /// Whether one of the photos is there that were saved.
    private func holdsPhoto(of job: RestoreJobID, _ folder: FilePath) async throws -> Bool {
        var others = 0
        let pages = LedgerPages(ledger: ledger, place: \RestoreItem.id) {
            try $0.restoreItems(of: job, after: $1 ?? 0, limit: Self.pageSize)
        }
        for try await page in pages {
            let saved = page.filter { $0.savedAt != nil }
            let (isThere, read) = try await pool.runChecking { flag in try Self.search(for: saved, in: folder, flag) }
            if isThere { return true }
            others += read
            if others >= Self.mostOthers { break }
        }
        return false
    }

    /// - Returns: whether one is there, and how many files were read that are none.
    private static func search(
        for items: [RestoreItem], in folder: FilePath, _ flag: CancellationFlag
    ) throws -> (isThere: Bool, read: Int) {
        var read = 0
        for item in items {
            for place in item.places where place.destination.isBelowAnyFolder {
                // The photo itself has more bytes than its copy, and so has a JPEG that is stored as JPEG XL.
                let path = folder.pushing(place.destination)
                guard let size = FileStamp.ofFile(path)?.size, size >= item.size else { continue }
                if item.sha256 == nil, size == item.size { return (true, read) }
                do {
                    let digest = try FileDigest.of(path, size: size, flag)
                    if let digest, item.isFile(digest) { return (true, read) }
                } catch is Errno {
                    // It says nothing.
                }
                read += 1
            }
        }
        return (false, read)
    }
}

extension RestoreItem {
    /// Where it is saved, with the photo whose name and time it has there.
    var places: [(path: FilePath?, destination: FilePath)] {
        guard let destination else { return [] }
        return [(path, destination)] + further.map { ($0.path, $0.destination) }
    }

    /// Whether a file with this digest is it, or the photo of which it is a copy: keys of both have the photo's MD5.
    fileprivate func isFile(_ digest: ContentDigest) -> Bool {
        digest.sha256 == sha256 || key.lastSegment == "\(digest.md5).dat"
    }
}

/// The folder that a restore job saves its photos in. A hidden file of the job's own, which is there before the first photo
/// gets its name, tells it from what has its path meanwhile: the place where a drive was mounted, or another drive. Device and
/// inode do not: two sticks have the same, one after the other, and one that is mounted anew gets others. All functions block.
package struct RestoreFolder: Hashable, Sendable {
    package let path: FilePath
    let job: RestoreJobID
    let mark: FilePath.Component

    /// The hidden file.
    var file: FilePath { path.appending(mark) }

    /// Whether the path leads to it.
    /// - Throws: `Errno` when nobody can tell.
    func isInPlace() throws(Errno) -> Bool {
        do {
            return try FileStatus(at: file).kind == .file
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    /// Sees to it that nothing is saved into another folder.
    /// - Throws: ``DownloadError`` of the file that was to be saved.
    func require(for destination: FilePath) throws(DownloadError) {
        do {
            if try isInPlace() { return }
        } catch {
            throw DownloadError(error.isRefusal ? .notAllowed : .ioFailed, destination, refusal(error))
        }
        throw DownloadError(.folderAway, destination, absence)
    }

    /// Makes the folder where it is not there, and puts the file into it. Its name may be known to the memory only: see
    /// ``sync()``.
    /// - Returns: how many folders were made: it, and those above it.
    /// - Throws: ``FolderError``, `Errno`: also of a disk that is full. The file is not there then, and no folder for it.
    @discardableResult
    func put(_ calls: Folder.Calls = Folder.Calls()) throws -> Int {
        let made = try Folder.make(path, permissions: .readableFolder, calls: calls)
        do {
            try makeFile()
        } catch {
            Folder.removeEmpty(made)
            throw error
        }
        return Folder.count(of: made, upTo: path)
    }

    /// Puts the name of the file on the disk for good.
    func sync() throws(Errno) { try Folder.sync(path) }

    private func makeFile() throws {
        do {
            let text = Array(
                "Restore \(job) of sync-agent saves its photos here. This file goes when all are saved.\n".utf8)
            // A full disk may have room for a file of a few bytes.
            let block = text + [UInt8](repeating: 0, count: Self.blockLength - text.count)
            try NewFile.make(block, at: file, permissions: .readableFile) { file in
                try file.sync()
                try file.resize(to: Int64(text.count))
            }
        } catch Errno.fileExists {
            // That of another process which is at the same job, or was killed before it noted it.
        }
    }

    private static let blockLength = 4_096

    /// What became of a job's file that is to go.
    enum Removal: Sendable {
        /// It was there, and is no more.
        case done
        /// The folder does not have it.
        case unneeded
        /// It may be on a drive that is away, or its disk does not let it go.
        case pending
    }

    /// Takes a job's file away, which is in its folder.
    static func remove(_ file: FilePath) -> Removal {
        do {
            if try file.unlink() { return .done }
            return try FileStatus.find(file.removingLastComponent(), followsLinks: true) == nil ? .pending : .unneeded
        } catch {
            return .pending
        }
    }

    /// Why nothing is saved where the folder is not.
    var absence: String {
        "\(path.string.escapingControls) is not the folder that the job saves in: its drive is not mounted, or it was moved or "
            + "emptied (\(mark)). Mount the drive again, and the job goes on; else end it (sync-agent restores "
            + "\(job) --stop-saving), and restore into another folder (--output)"
    }

    /// Why nobody can tell whether the folder is there, or nothing can be put into it.
    func refusal(_ errno: Errno) -> String {
        let other = "restore into another folder (--output)"
        if errno.isRefusal, let folder = path.unreadableFolder {
            return "\(folder.string.escapingControls) may not be read and entered; allow it (chmod u+rx), or \(other)"
        }
        return "\(path.string.escapingControls): \(FileFault(errno, or: other).message)"
    }
}

extension RestoreFolder {
    init(_ reservation: RestoreReservation) {
        self.init(path: reservation.folder, job: reservation.job, mark: reservation.mark)
    }
}
