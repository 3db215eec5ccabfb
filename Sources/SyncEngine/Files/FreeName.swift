import Glibc
import SystemPackage

/// A name that a file gets only where nothing has it: nothing is ever replaced by it.
enum FreeName {
    /// link(2) takes a name only where nothing has it, unlike rename(2). Where a file system has no second names (FAT), or
    /// not for us, an empty file takes it, and is replaced by ours at once.
    /// - Parameter willRename: called before the file loses its own name.
    /// - Returns: `false`, with nothing changed, when something has the name. Otherwise the file may have both.
    static func take(
        _ name: FilePath, for file: FilePath, _ calls: DownloadCalls, willRename: () -> Void = {}
    ) throws -> Bool {
        do {
            try calls.link(file, name)
            return true
        } catch {
            switch error {
            case .fileExists: return false
            case .notPermitted, .permissionDenied, .notSupported, .notSupportedOnSocket, .noFunction, .tooManyLinks:
                guard try reserve(name) else { return false }
                willRename()
                guard rename(file.string, name.string) == 0 else {
                    let code = errno
                    unlink(name.string)
                    throw Errno(rawValue: code)
                }
                return true
            default: throw error
            }
        }
    }

    private static func reserve(_ name: FilePath) throws -> Bool {
        do {
            try FileDescriptor.open(
                name, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite
            ).close()
            return true
        } catch Errno.fileExists {
            return false
        }
    }
}
