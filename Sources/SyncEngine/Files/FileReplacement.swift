package import SyncCore
import SyncSystem
package import SystemPackage

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
        /// The stamp is that of the new file, which is there for good. That the old one is gone is so once the folder is synced.
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
        do {
            return try put(draft, hidden, in: file, old, ours)
        } catch {
            // It holds what a later replacement may take away.
            let new = [draft, hidden.path].first { FileStamp.ofFile($0).map(hidden.isNew) == true }
            if let new { try? calls.remove(new) }
            throw error
        }
    }

    private func put(
        _ draft: FilePath, _ hidden: HiddenFile, in file: FilePath, _ old: FileStamp, _ ours: FileStamp
    ) throws -> Outcome {
        let folder = file.removingLastComponent()
        guard !isBeingWritten(file), FileStamp.ofFile(file) == old else {
            try calls.remove(draft)
            return .changed
        }
        try calls.rename(draft, hidden.path)
        guard try exchange(hidden, file, old) else { return .changed }
        // What has the hidden name now was in place until a moment ago.
        guard let found = try FileStatus.find(hidden.path) else {
            // Renamed into the place, where the two could not be exchanged.
            try calls.syncFolder(folder)
            return .replaced(placed(ours, at: file))
        }
        if found.kind == .file, hidden.isOld(found.stamp), !isBeingWritten(hidden.path) {
            do {
                try calls.syncFolder(folder)
            } catch {
                // Which of the two a power failure would leave is not known: the file that was read stays in its place.
                _ = try? giveBack(hidden, to: file)
                throw error
            }
            try calls.remove(hidden.path)
            return .replaced(placed(ours, at: file))
        }
        return try giveBack(hidden, to: file) ? .changed : .kept(hidden.path)
    }

    enum Removal: Hashable {
        /// For good once the folder is synced.
        case removed
        /// It is another file by now, or is being written: as its writer left it.
        case changed
        /// As well; and an earlier file of another program did not get the name back. It is kept under this one.
        case kept(FilePath)
    }

    /// Removes a file. It is renamed first: what takes its name at this very moment, or is written to it, stays.
    /// - Parameter stamp: of the file that is to go.
    /// - Throws: `Errno`.
    func remove(_ file: FilePath, _ stamp: FileStamp) throws -> Removal {
        guard try FileStatus.find(file)?.stamp == stamp, !isBeingWritten(file) else { return .changed }
        let hidden = HiddenFile(in: file.removingLastComponent(), old: stamp, new: nil)
        do {
            try calls.rename(file, hidden.path)
        } catch Errno.noSuchFileOrDirectory {
            return .changed
        }
        if try removeOwn(hidden) { return .removed }
        // Where a later one has the name, that one stays.
        return try calls.renameIfFree(hidden.path, file) ? .changed : .kept(hidden.path)
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
            // Each exchange moves the time of the last change of both. Theirs may be a link or a folder.
            while try FileStatus.find(file)?.stamp.isRenamed(from: placed) == true,
                let back = try FileStatus.find(hidden.path)?.stamp
            {
                guard try calls.exchange(hidden.path, file) else { break }
                if try FileStatus.find(hidden.path)?.stamp.isRenamed(from: placed) == true { break }
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
        guard let found = try FileStatus.find(hidden.path) else { return true }
        guard found.kind == .file,
            hidden.isNew(found.stamp) || hidden.isOld(found.stamp) && !isBeingWritten(hidden.path)
        else { return false }
        try calls.remove(hidden.path)
        return true
    }

    /// Deals with what a process that was killed left in a folder: its own files go, and what another program wrote gets
    /// its place back.
    /// - Returns: files of other programs that have no place to go to. They are kept.
    /// - Throws: `Errno`.
    func settle(in folder: FilePath) throws -> [FilePath] {
        var kept: [FilePath] = []
        for name in try Self.names(in: folder, where: { $0.hasPrefix(HiddenFile.start) }) {
            if HiddenFile.isDraft(name) {
                try calls.remove(folder.appending(name))
            } else if let hidden = HiddenFile(name, in: folder), try !settle(hidden, in: folder) {
                kept.append(hidden.path)
            }
        }
        return kept
    }

    /// - Returns: `false` when it is kept.
    private func settle(_ hidden: HiddenFile, in folder: FilePath) throws -> Bool {
        if try removeOwn(hidden) { return true }
        let place = try Self.names(in: folder, where: { !$0.hasPrefix(HiddenFile.start) }).lazy
            .map { folder.appending($0) }
            .first { FileStamp.ofFile($0).map(hidden.isNew) == true }
        guard let place else { return false }
        return try giveBack(hidden, to: place)
    }

    private static func names(in folder: FilePath, where isWanted: (String) -> Bool) throws -> [FilePath.Component] {
        try Folder.names(in: folder)?.filter { isWanted($0.string) } ?? []
    }
}

/// A hidden file beside one that is being replaced. Its name tells which file was read, and which one is to take its place:
/// a file with a third stamp belongs to another program, whoever finds it.
///
/// `.sync-agent-{inode}-{size}-{time}-{inode}-{size}-{time}.old`, in hexadecimal digits.
struct HiddenFile {
    static let start = ".sync-agent-"
    private static let (draftEnd, end) = (".tmp", ".old")

    let path: FilePath
    private let old: Mark
    private let new: Mark

    /// - Parameter new: `nil` of one that is to go, with nothing in its place.
    init(in folder: FilePath, old: FileStamp, new: FileStamp?) {
        (self.old, self.new) = (Mark(old), new.map { Mark($0) } ?? .nothing)
        path = folder.appending("\(Self.start)\(self.old.text)-\(self.new.text)\(Self.end)")
    }

    /// `nil` for other names.
    init?(_ name: FilePath.Component, in folder: FilePath) {
        let text = name.string
        guard text.hasPrefix(Self.start), text.hasSuffix(Self.end) else { return nil }
        let parts = text.dropFirst(Self.start.count).dropLast(Self.end.count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 6, let old = Mark(parts[..<3]), let new = Mark(parts[3...]) else { return nil }
        (self.old, self.new) = (old, new)
        path = folder.appending(name)
    }

    /// Whether it is the file that was read.
    func isOld(_ stamp: FileStamp) -> Bool { Mark(stamp) == old }

    /// Whether it is the one that is to take its place.
    func isNew(_ stamp: FileStamp) -> Bool { Mark(stamp) == new }

    // MARK: Drafts

    /// The name of a new file that is not whole yet. No other program's file ever has it.
    static func draft(_ number: UInt64) -> String { start + String(number, radix: 16) + draftEnd }

    static func isDraft(_ name: FilePath.Component) -> Bool {
        let text = name.string
        guard text.hasPrefix(start), text.hasSuffix(draftEnd), text.utf8.count > start.utf8.count + draftEnd.utf8.count
        else { return false }
        return UInt64(text.dropFirst(start.count).dropLast(draftEnd.count), radix: 16) != nil
    }

    /// A stamp without the device, whose number may be another one after a restart.
    private struct Mark: Hashable {
        var inode: UInt64
        var size: Int64
        var modified: Int64

        /// No file has it.
        static let nothing = Mark(FileStamp(device: 0, inode: 0, size: 0, modified: 0))

        init(_ stamp: FileStamp) {
            (inode, size, modified) = (stamp.inode, stamp.size, stamp.modified)
        }

        init?(_ parts: ArraySlice<Substring>) {
            let numbers = parts.compactMap { UInt64($0, radix: 16) }
            guard numbers.count == 3 else { return nil }
            inode = numbers[0]
            size = Int64(bitPattern: numbers[1])
            modified = Int64(bitPattern: numbers[2])
        }

        var text: String {
            [inode, UInt64(bitPattern: size), UInt64(bitPattern: modified)].map { String($0, radix: 16) }
                .joined(separator: "-")
        }
    }
}

/// What is done to files that are rewritten. Tests script it.
package struct FileRewriteCalls: Sendable {
    /// Makes a new file with the mode, the owner and the attributes of another, on the disk for good.
    package var write: @Sendable (_ bytes: [UInt8], _ new: FilePath, _ model: FilePath) throws -> FileStamp = {
        let status = try FileStatus(at: $2)
        let model = try FileDescriptor.open($2, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        let attributes = try model.closeAfter { try FileAttributes(of: model) }
        return try NewFile.make($0, at: $1) { file in
            // Another owner is kept where that is allowed; the mode always is.
            try? file.setOwner(status.user, group: status.group)
            // Before the mode: until then, nobody else has a right to it.
            try attributes.set(on: file)
            try file.setPermissions(status.permissions)
        }
    }
    /// Gives each of two files the name of the other (renameat2(2), RENAME_EXCHANGE).
    /// - Returns: `false` where the file system cannot.
    package var exchange: @Sendable (FilePath, FilePath) throws -> Bool = { try NewFile.exchange($0, $1) }
    /// rename(2)
    package var rename: @Sendable (FilePath, FilePath) throws -> Void = { try $0.rename(to: $1) }
    /// renameat2(2), RENAME_NOREPLACE
    /// - Returns: `false` where something has the name.
    package var renameIfFree: @Sendable (FilePath, FilePath) throws -> Bool = { try NewFile.renameIfFree($0, $1) }
    /// unlink(2)
    package var remove: @Sendable (FilePath) throws -> Void = { try $0.unlink() }
    /// fsync(2)
    package var syncFolder: @Sendable (FilePath) throws -> Void = { try Folder.sync($0) }

    package init() {}
}
