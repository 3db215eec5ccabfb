import Glibc
package import SystemPackage

extension FileDescriptor {
    /// Returns when all that was written to the file, or all names in the folder, are on the disk (fsync(2)). The only place
    /// that says so: whoever calls something stored or saved has been here.
    ///
    /// No error is EINVAL, that nothing here can be synchronised, as folders of some network mounts; nor EROFS, that
    /// nothing could be missing.
    /// - Throws: `Errno`.
    package func sync() throws(Errno) {
        while fsync(rawValue) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, EROFS: return
            case let code: throw Errno(rawValue: code)
            }
        }
    }
}
