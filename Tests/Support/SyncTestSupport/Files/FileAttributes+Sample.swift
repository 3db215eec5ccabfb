package import SyncSystem
package import SystemPackage

extension FileAttributes {
    /// A person's comment; and a list by which a user may read what the group may not (acl(5), in the form of Linux: version,
    /// then tag, permissions and id of each entry).
    package static let sample = FileAttributes([
        "user.comment": Array("of my grandmother".utf8),
        "system.posix_acl_access": [2, 0, 0, 0]
            + [(0x01, 6, UInt32.max), (0x02, 4, 1_000), (0x04, 0, .max), (0x10, 4, .max), (0x20, 0, .max)]
            .flatMap { (tag: UInt8, permissions: UInt8, id: UInt32) -> [UInt8] in
                [tag, 0, permissions, 0] + withUnsafeBytes(of: id.littleEndian) { Array($0) }
            },
    ])

    /// Whether the file system of temporary files has them.
    package static let areKept: Bool = {
        guard let tree = try? TemporaryTree(), (try? tree.write("", to: "a")) != nil else { return false }
        return (try? sample.set(on: tree.path("a"))) != nil
    }()

    package init(at path: FilePath) throws {
        let file = try FileDescriptor.open(path, .readOnly)
        self = try file.closeAfter { try FileAttributes(of: file) }
    }

    package func set(on path: FilePath) throws {
        let file = try FileDescriptor.open(path, .readWrite)
        try file.closeAfter { try set(on: file) }
    }
}
