package import SyncCore
import SyncSystem
package import SystemPackage

/// Where the descriptions of vacations come from; tests have their own. Reading blocks.
package struct DescriptionSource: Sendable {
    /// The description in a vacation's folder: an empty one when there is none, one with a problem when it is no file that
    /// we read. Throws ``VacationReadError`` when the folder is gone, or cannot be read now: then nothing may be concluded.
    package let read: @Sendable (FilePath) throws -> VacationDescription

    package init(read: @escaping @Sendable (FilePath) throws -> VacationDescription) {
        self.read = read
    }

    /// `vacation.json` on the disk.
    package static let disk = DescriptionSource { try DescriptionFile.read(in: $0) }
}

private enum DescriptionFile {
    static func read(in folder: FilePath) throws(VacationReadError) -> VacationDescription {
        let file = folder.appending(VacationDescription.fileName)
        do {
            let directory = try FileDescriptor.open(folder, .readOnly, options: [.directory, .closeOnExec])
            try directory.close()
            // Neither a link out of the folder nor a pipe is followed or waited for.
            let descriptor = try FileDescriptor.open(file, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            return try descriptor.closeAfter { try description(in: descriptor) }
        } catch let error as Errno {
            switch error {
            case .noSuchFileOrDirectory where isFolder(folder): return VacationDescription()
            case .noSuchFileOrDirectory:
                throw VacationReadError(path: folder, message: "the folder is not there; is its drive mounted?")
            case .tooManySymbolicLinkLevels: return VacationDescription(problems: ["it is a link"])
            case .permissionDenied: return VacationDescription(problems: ["it may not be read"])
            default: throw VacationReadError(path: file, message: error.description.lowercased())
            }
        } catch {
            throw VacationReadError(path: file, message: "\(error)")
        }
    }

    private static func description(in descriptor: FileDescriptor) throws -> VacationDescription {
        guard try FileStatus(of: descriptor).kind == .file else {
            return VacationDescription(problems: ["it is no file"])
        }
        let bytes = try descriptor.bytes(atMost: VacationDescription.maximumSize + 1)
        guard bytes.count <= VacationDescription.maximumSize else {
            return VacationDescription(problems: ["it is larger than \(VacationDescription.maximumSize) bytes"])
        }
        return VacationDescription(parsing: bytes)
    }

    private static func isFolder(_ path: FilePath) -> Bool {
        (try? FileStatus(at: path, followsLinks: true))?.kind == .folder
    }
}
