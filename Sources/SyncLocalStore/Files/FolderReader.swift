import Glibc
import SystemPackage

/// The names in a folder, one at a time and in no order (readdir(3)). Memory does not grow with the folder.
struct FolderReader: ~Copyable {
    private let path: FilePath
    private let stream: OpaquePointer

    /// `nil` when the folder is not there.
    init?(_ path: FilePath) throws(FileError) {
        guard let stream = path.withPlatformString({ opendir($0) }) else {
            let reason = Errno(rawValue: errno)
            if reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
            throw FileError(call: "opendir", path: path, errno: reason)
        }
        self.path = path
        self.stream = stream
    }

    deinit {
        closedir(stream)
    }

    /// The next name, `.` and `..` left out; `nil` at the end.
    func next() throws(FileError) -> String? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno == 0 { return nil }
                throw FileError(call: "readdir", path: path, errno: Errno(rawValue: errno))
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { return name }
        }
    }
}
