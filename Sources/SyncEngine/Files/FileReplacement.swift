import SyncCore
import SyncSystem
import SystemPackage

/// Puts a new file in the place of one that another program may write at any moment, and loses nothing of theirs. All
/// functions block.
///
/// The new file takes the place of the old one in a single step that hands the old one out (renameat2(2),
/// RENAME_EXCHANGE). When that is not the file that was read, or somebody still writes to it, it gets its place back. Where
/// a file system cannot exchange two files, the stamp is compared just before the rename.
///
/// Nothing hidden is ever removed but the new file and the one that was read. ``HiddenFile`` tells them from others, also
/// to a process that comes after one that was killed.
struct FileReplacement {
    enum Outcome: Hashable {
        /// The stamp is that of the new file.
        case replaced(FileStamp)
        /// It is another file by now, or is being written: as its writer left it.
        case changed
        /// As well; and an earlier file of another program did not get the name back. It is kept under this one.
        case kept(FilePath)
    }

    let calls: FileRewriteCalls
    /// Whether a process has a file open for writing.
    let isBeingWritten: (FilePath) -> Bool

    /// - Parameter old: the stamp of the file that was read.
    /// - Throws: `Errno`.
    func replace(_ file: FilePath, _ old: FileStamp, by bytes: [UInt8]) throws -> Outcome {
        let folder = file.removingLastComponent()
        let draft = folder.appending(HiddenFile.draft(UInt64.random(in: .min ... .max)))
        let ours: FileStamp
        do {
            ours = try calls.write(bytes, draft, file)
        } catch Errno.noSuchFileOrDirectory {
            return .changed
        }
        let hidden = HiddenFile(in: folder, old: old, new: ours)
        guard !isBeingWritten(file), FileStamp.ofFile(file) == old else {
            try calls.remove(draft)
            return .changed
        }
        try calls.rename(draft, hidden.path)
        guard try exchange(hidden, file, old) else { return .changed }
        // What has the hidden name now was in place until a moment ago.
        guard let stamp = hidden.stamp else {
            // Renamed into the place, where the two could not be exchanged.
            try calls.syncFolder(folder)
            return .replaced(placed(ours, at: file))
        }
        if hidden.isOld(stamp), !isBeingWritten(hidden.path) {
            do {
                try calls.syncFolder(folder)
            } catch {
                // Which of the two a power failure would leave is not known: the file that was read stays in its place.
                _ = try? giveBack(hidden, to: file)
                throw error
            }
            try calls.remove(hidden.path)
            try calls.syncFolder(folder)
            return .replaced(placed(ours, at: file))
        }
        return try giveBack(hidden, to: file) ? .changed : .kept(hidden.path)
    }

    // MARK: Exchanging

    /// The stamp that our file has now: getting its name has moved the time of its last change. When another file is in
    /// the place already, that of ours as it was written, which no file has any more.
    private func placed(_ ours: FileStamp, at file: FilePath) -> FileStamp {
        guard let stamp = FileStamp.ofFile(file), stamp.isRenamed(from: ours) else { return ours }
        return stamp
    }

    /// - Returns: `false` when there is nothing to exchange with any more.
    private func exchange(_ hidden: HiddenFile, _ file: FilePath, _ old: FileStamp) throws -> Bool {
        do {
            if try calls.exchange(hidden.path, file) { return true }
            guard FileStamp.ofFile(file) == old else {
                try calls.remove(hidden.path)
                return false
            }
            try calls.rename(hidden.path, file)
            return true
        } catch Errno.noSuchFileOrDirectory {
            _ = try removeOwn(hidden)
            return false
        }
    }

    /// Puts the other program's file back in its place, as long as ours is there. When it wrote yet another one there
    /// meanwhile, that one stays: it is the later one.
    /// - Returns: `false` when the hidden file is one of theirs after all.
    func giveBack(_ hidden: HiddenFile, to file: FilePath) throws -> Bool {
        guard var placed = FileStamp.ofFile(file), hidden.isNew(placed) else { return try removeOwn(hidden) }
        do {
            // Each exchange moves the time of the last change of both.
            while FileStamp.ofFile(file)?.isRenamed(from: placed) == true, let back = hidden.stamp {
                guard try calls.exchange(hidden.path, file) else { break }
                if hidden.stamp?.isRenamed(from: placed) == true { break }
                // A later one came between the look and the exchange. It gets its place back in the same way.
                placed = back
            }
        } catch Errno.noSuchFileOrDirectory {
            // Somebody has removed ours. Theirs stays where it is.
        }
        try calls.syncFolder(file.removingLastComponent())
        return try removeOwn(hidden)
    }

    /// - Returns: `false` when it is a file of another program.
    func removeOwn(_ hidden: HiddenFile) throws -> Bool {
        guard let stamp = hidden.stamp else { return true }
        guard hidden.isNew(stamp) || hidden.isOld(stamp) && !isBeingWritten(hidden.path) else { return false }
        try calls.remove(hidden.path)
        return true
    }
}
