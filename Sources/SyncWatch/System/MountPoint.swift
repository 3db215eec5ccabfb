import Glibc
import SystemPackage

/// One line of proc(5), `/proc/self/mountinfo`: a file system, and where it is mounted.
struct MountPoint: Hashable {
    /// The kernel's number of this mount; another one as soon as something is mounted anew.
    let id: Int
    /// Absolute, without symbolic links.
    let path: FilePath

    /// All mounts, in the order of the table: a later one covers an earlier one of the same path.
    static func all(in table: [UInt8]) -> [MountPoint] {
        table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4, let id = Int(String(decoding: fields[0], as: UTF8.self)) else { return nil }
            let path = unescaped(fields[4]).map { CChar(bitPattern: $0) } + [0]
            return MountPoint(id: id, path: FilePath(platformString: path))
        }
    }

    /// Those that decide what is seen below a folder: at it, below it, and on the way to it.
    static func around(_ folder: FilePath, in table: [UInt8]) -> [MountPoint] {
        all(in: table).filter { $0.path.starts(with: folder) || folder.starts(with: $0.path) }
    }

    /// Mount points below a folder, relative to it, each once; those below ignored names left out.
    static func below(_ folder: FilePath, in table: [UInt8]) -> [FilePath] {
        let paths = all(in: table).compactMap { mount -> RelativePath? in
            guard let path = RelativePath(mount.path, below: folder), !path.isEmpty else { return nil }
            return path.names.contains(where: \.isIgnored) ? nil : path
        }
        return Set(paths).map(\.filePath).sorted { $0.string < $1.string }
    }

    /// Blanks, tabs, newlines and backslashes are written as three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = byte == UInt8(ascii: "\\") && digits.count == 3 && digits.allSatisfy { 0x30...0x37 ~= $0 }
            guard isEscape else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
            rest = rest.dropFirst(3)
        }
        return bytes
    }
}

extension FilePath {
    /// The path without symbolic links (realpath(3)); as it is where that cannot be told.
    var resolved: FilePath {
        guard let resolved = withPlatformString({ realpath($0, nil) }) else { return self }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }
}
