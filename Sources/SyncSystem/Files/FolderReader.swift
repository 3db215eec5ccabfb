import Glibc
package import SystemPackage

/// The names in a folder, one at a time and in no order (readdir(3)), `.` and `..` left out. Memory does not grow with the
/// folder.
package struct FolderReader: ~Copyable {
    /// What the folder says of an entry, without a look at it.
    package enum Kind: Sendable {
        case file, folder, other, unknown
    }

    private let stream: OpaquePointer

    /// Valid as long as this lives.
    package var descriptor: Int32 { dirfd(stream) }

    /// Links are followed.
    /// - Throws: `Errno`.
    package init(_ folder: FilePath) throws(Errno) {
        guard let stream = folder.withPlatformString({ opendir($0) }) else { throw Errno(rawValue: errno) }
        self.stream = stream
    }

    /// Takes over a descriptor of a folder, which is closed also when this fails.
    /// - Throws: `Errno`.
    package init(taking descriptor: Int32) throws(Errno) {
        guard let stream = fdopendir(descriptor) else {
            let reason = Errno(rawValue: errno)
            close(descriptor)
            throw reason
        }
        self.stream = stream
    }

    deinit {
        closedir(stream)
    }

    /// Calls `body` with the next entry.
    /// - Returns: what it returns; `nil` at the end.
    /// - Throws: `Errno`, and what `body` throws: a folder that cannot be read to its end has not been read.
    package func next<Value>(
        _ body: (UnsafePointer<CChar>, Kind) throws(Errno) -> Value
    ) throws(Errno) -> Value? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno == 0 { return nil }
                throw Errno(rawValue: errno)
            }
            let name = UnsafeRawPointer(entry).advanced(by: Self.nameOffset).assumingMemoryBound(to: CChar.self)
            if name[0] == Self.dot, name[1] == 0 || (name[1] == Self.dot && name[2] == 0) { continue }
            let kind: Kind =
                switch Int(entry.pointee.d_type) {
                case DT_REG: .file
                case DT_DIR: .folder
                case DT_UNKNOWN: .unknown
                default: .other
                }
            return try body(name, kind)
        }
    }

    private static let dot = CChar(UInt8(ascii: "."))
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
}

extension Folder {
    /// All names in a folder, in no order; `nil` when there is no such folder.
    /// - Throws: `Errno`.
    package static func names(
        in folder: FilePath, where isWanted: (FolderReader.Kind) -> Bool = { _ in true }
    ) throws(Errno) -> [FilePath.Component]? {
        do {
            let reader = try FolderReader(folder)
            var names: [FilePath.Component] = []
            while let name = try reader.next({ (name, kind) throws(Errno) in
                isWanted(kind) ? FilePath.Component(platformString: name) : nil
            }) {
                if let name { names.append(name) }
            }
            return names
        } catch {
            guard error == .noSuchFileOrDirectory || error == .notDirectory else { throw error }
            return nil
        }
    }

    /// The folders in a folder, in no order; links to folders are none of them.
    /// - Throws: `Errno`.
    package static func folders(in folder: FilePath) throws(Errno) -> [FilePath] {
        try names(in: folder) { $0 == .folder || $0 == .unknown }?.map { folder.appending($0) }
            .filter { (try? FileStatus(at: $0))?.kind == .folder } ?? []
    }
}
