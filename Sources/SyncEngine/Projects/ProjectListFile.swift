package import SyncCore
import SyncSystem
package import SystemPackage

/// `projects.json` on the disk. Somebody else writes it at any moment, in place or by a rename. All functions block.
package struct ProjectListFile: Sendable {
    /// Bytes. A list of a million projects is smaller.
    static let largest: Int64 = 512 << 20

    /// What one reading has come to.
    package enum Reading: Sendable {
        case missing
        /// Equal to the stamp before; not read.
        case unchanged
        case read([UInt8], FileStamp)
        /// It was changed while it was read.
        case changing
        /// It cannot be read, and why.
        case refused(String, FileStamp)
    }

    package let path: FilePath
    let calls: FileRewriteCalls

    /// - Parameter calls: those that rewrite it.
    package init(in folder: FilePath, calls: FileRewriteCalls = FileRewriteCalls()) {
        path = folder.appending(ProjectFileName.listName)
        self.calls = calls
    }

    /// Reads the file whole, and looks at its stamp before and after.
    package func read(unless known: FileStamp?) -> Reading {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            defer { try? file.close() }
            let stamp = try Self.stamp(of: file)
            if stamp == known { return .unchanged }
            guard stamp.size <= Self.largest else { return .refused("it is larger than 512 MiB", stamp) }
            // One byte more than there should be: a file that grew is noticed.
            let bytes = try file.bytes(atMost: Int(stamp.size) + 1)
            guard try Self.stamp(of: file) == stamp, bytes.count == Int(stamp.size) else { return .changing }
            return .read(bytes, stamp)
        } catch Errno.noSuchFileOrDirectory {
            return .missing
        } catch let error as NoFile {
            return .refused(error.words, .none)
        } catch Errno.tooManySymbolicLinkLevels {
            return .refused("it is a symbolic link, which is not followed; put the file itself there", .none)
        } catch {
            return .refused("it cannot be read: \((error as? Errno)?.description.lowercased() ?? "\(error)")", .none)
        }
    }

    private struct NoFile: Error {
        let words: String
    }

    private static func stamp(of file: FileDescriptor) throws -> FileStamp {
        let status = try FileStatus(of: file)
        guard status.kind == .file else {
            throw NoFile(words: status.kind == .folder ? "it is a folder" : "it is a pipe or a device, and no file")
        }
        return status.stamp
    }
}

/// Why records could not be taken out of `projects.json`. The file is as its writer left it.
package struct ProjectListNotRewritten: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

extension ProjectListFile {
    /// What one look at a file has come to that another program may be writing.
    package enum Attempt: Sendable {
        /// Whether there was such a record.
        case done(Bool)
        /// It is not whole at this moment, or has just changed: once more, a little later.
        case again(ProjectListNotRewritten)
    }

    /// Takes the records of some projects out of the file; all other bytes stay as they are, and what another program
    /// writes at any moment is kept. See ``FileReplacement``.
    /// - Parameter isBeingWritten: whether a process has a file open for writing.
    /// - Throws: ``ProjectListNotRewritten``.
    package func remove(
        _ ids: Set<ByteString>, isBeingWritten: @escaping (FilePath) -> Bool
    ) throws(ProjectListNotRewritten) -> Attempt {
        let replacement = FileReplacement(calls: calls, isBeingWritten: isBeingWritten)
        return try attempt { (list, stamp) throws(ProjectListNotRewritten) in
            guard let rest = list.removing(ids) else { return false }
            return try replace(stamp, by: rest, replacement) ? true : nil
        }
    }

    /// What keeps the records of some projects from being taken out, as far as that can be told beforehand: it is asked
    /// before anything of them is deleted.
    /// - Throws: ``ProjectListNotRewritten``.
    package func requireRemovable(_ ids: Set<ByteString>) throws(ProjectListNotRewritten) -> Attempt {
        try attempt { (list, _) throws(ProjectListNotRewritten) in
            guard list.removing(ids) != nil else { return false }
            // Its place is taken by another file: that it may be written to does not matter.
            if let reason = path.removalObstacle { throw notRewritten(reason) }
            return true
        }
    }

    /// - Parameter body: gets the list and the stamp of its file, and answers `nil` for once more.
    /// - Returns: what `body` answers; that there was no record where there is no file.
    private func attempt(
        _ body: (ProjectList, FileStamp) throws(ProjectListNotRewritten) -> Bool?
    ) throws(ProjectListNotRewritten) -> Attempt {
        let changing = Attempt.again(
            ProjectListNotRewritten(description: "\(path): it keeps changing; try again when its app is idle"))
        switch read(unless: nil) {
        case .missing: return .done(false)
        case .changing, .unchanged: return changing
        case .refused(let reason, _): throw ProjectListNotRewritten(description: "\(path): \(reason)")
        case .read(let bytes, let stamp):
            let list: ProjectList
            do {
                list = try ProjectList(bytes)
            } catch {
                // Half-written, most likely.
                return .again(
                    ProjectListNotRewritten(
                        description: "\(path): it is damaged (\(error)); nothing was taken out of it"))
            }
            guard let answer = try body(list, stamp) else { return changing }
            return .done(answer)
        }
    }

    /// Deals with what a process that was killed while it rewrote the file left beside it.
    /// - Returns: what other programs wrote and could not get its name back.
    package func settle(isBeingWritten: @escaping (FilePath) -> Bool) throws(ProjectListNotRewritten) -> [FilePath] {
        let folder = path.removingLastComponent()
        do {
            return try FileReplacement(calls: calls, isBeingWritten: isBeingWritten).settle(in: folder)
        } catch {
            throw notRewritten(error)
        }
    }

    /// - Returns: `false` when the file is another one by now.
    private func replace(
        _ old: FileStamp, by bytes: [UInt8], _ replacement: FileReplacement
    ) throws(ProjectListNotRewritten) -> Bool {
        let outcome: FileReplacement.Outcome
        do {
            outcome = try replacement.replace(path, old, by: bytes)
            // Else the old file, and the records in it, might be there again after a power cut.
            if case .replaced = outcome { try calls.syncFolder(path.removingLastComponent()) }
        } catch {
            throw notRewritten(error)
        }
        switch outcome {
        case .replaced: return true
        case .changed: return false
        case .kept(let hidden):
            throw ProjectListNotRewritten(description: "\(path): changed twice at this moment; \(Self.advice(hidden))")
        }
    }

    /// What to do about a file that was kept.
    package static func advice(_ kept: FilePath) -> String {
        "an earlier file of another program is kept as \(kept); compare the two, and remove the one that is not wanted"
    }

    private func notRewritten(_ error: any Error) -> ProjectListNotRewritten {
        let fault = (error as? Errno).map { FileFault($0, or: "move the folder to another disk") }
        return notRewritten(fault?.message ?? "\(error)")
    }

    private func notRewritten(_ reason: String) -> ProjectListNotRewritten {
        ProjectListNotRewritten(description: "\(path): cannot be rewritten: \(reason)")
    }
}
