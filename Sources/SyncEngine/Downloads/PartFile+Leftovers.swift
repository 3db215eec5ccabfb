import Glibc
import SystemPackage

/// Parts that nobody will go on from. A part whose lock somebody has is theirs, and stays.
extension PartFile {
    /// Removes what an earlier run left for a destination that has its file by now.
    static func discard(for destination: FilePath) throws(Errno) {
        try discard(path(for: destination))
    }

    /// Removes what earlier runs left in a folder: under names that are not asked for any more, a part would stay for ever.
    /// To be called when all that was asked for is there.
    static func discardAll(in folder: FilePath) throws(Errno) {
        guard let directory = opendir(folder.string) else {
            if errno == ENOENT { return }
            throw Errno(rawValue: errno)
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { FilePath.Component(platformString: $0) }
            }
            if let name, isPart(name) { try discard(folder.appending(name)) }
        }
    }

    private static func discard(_ part: FilePath) throws(Errno) {
        let file = part.withPlatformString { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard file >= 0 else {
            // EACCES: that of another user. ELOOP: a link, which is none of ours.
            if [ENOENT, EACCES, ELOOP].contains(errno) { return }
            throw Errno(rawValue: errno)
        }
        defer { close(file) }
        if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return }
        var opened = stat()
        var named = stat()
        // Between open and lock, its owner may have finished it: this would then be the file of the person.
        guard fstat(file, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG, lstat(part.string, &named) == 0,
            named.st_ino == opened.st_ino, named.st_dev == opened.st_dev
        else { return }
        try remove(part)
    }
}
