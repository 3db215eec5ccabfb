import Glibc
package import SystemPackage

extension FilePath {
    /// Takes the name of a file away (unlink(2)).
    /// - Returns: why it is still there, and the next step; `nil` when nothing has the name any more.
    package func removeFile() -> String? {
        do throws(Errno) {
            try self.unlink()
            return nil
        } catch {
            return removalObstacle ?? Self.removalFault(error)
        }
    }

    /// What keeps the name of a file from being taken away or given to another one, and the next step, as far as that
    /// can be told without trying. `nil` where nothing is known to, or nothing has the name.
    package var removalObstacle: String? {
        let above = removingLastComponent()
        let place: FilePath = above.isEmpty ? "." : above
        do throws(Errno) {
            guard let folder = try FileStatus.find(place, followsLinks: true), let file = try FileStatus.find(self)
            else { return nil }
            if file.kind == .folder { return "it is a folder; move it away" }
            if file.isMountRoot { return "a file is mounted over it; unmount that" }
            if file.isFixed { return "it is immutable or append-only; sudo chattr -i -a takes that from it" }
            if folder.isFixed { return "its folder is immutable or append-only; sudo chattr -i -a takes that from it" }
            try place.requireAccess([.write, .execute])
            // S_ISVTX (inode(7)).
            let isSticky = folder.permissions.rawValue & 0o1000 != 0
            if isSticky, ![0, file.user, folder.user].contains(geteuid()) {
                return "it is another user's, and its folder lets only owners remove files (chmod +t)"
            }
            return nil
        } catch {
            return Self.removalFault(error)
        }
    }

    private static func removalFault(_ error: Errno) -> String { FileFault(error, or: "remove it by hand").message }
}
