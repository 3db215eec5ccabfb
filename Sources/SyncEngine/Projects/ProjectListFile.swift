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
