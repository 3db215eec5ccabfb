import CSyncLinux
import Glibc
package import SystemPackage

/// Extended attributes of a file (xattr(7)) that are a person's: those of programs, and the access control list (acl(5)).
/// Without the list, the bits of the group in the mode mean another thing, and let others in. All functions block.
package struct FileAttributes: Hashable, Sendable {
    /// The list of a file in XFS, ext4, Btrfs and the like.
    private static let accessList = "system.posix_acl_access"
    private static let ofPrograms = "user."

    private let values: [String: [UInt8]]

    /// - Parameter values: by the names of the attributes.
    package init(_ values: [String: [UInt8]]) { self.values = values }

    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        var values: [String: [UInt8]] = [:]
        do {
            let names = try Self.bytes { CSyncLinux_AttributeNames(file.rawValue, $0, $1) }
            for name in names.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
                guard name == Self.accessList || name.hasPrefix(Self.ofPrograms) else { continue }
                values[name] = try Self.bytes { CSyncLinux_Attribute(file.rawValue, name, $0, $1) }
            }
        } catch Errno.notSupported {
            // The file system has none.
        }
        self.values = values
    }

    /// Gives them to a file that has none.
    /// - Throws: `Errno` `.notSupported` where its file system keeps none.
    package func set(on file: FileDescriptor) throws(Errno) {
        for (name, value) in values {
            let code = Errno.code { CSyncLinux_SetAttribute(file.rawValue, name, value, Int64(value.count)) }
            guard code.rawValue == 0 else { throw code }
        }
    }

    /// As ``set(on:)``; nothing where its file system keeps none.
    /// - Throws: `Errno`.
    package func setWhereKept(on file: FileDescriptor) throws(Errno) {
        do {
            try set(on: file)
        } catch {
            guard error == .notSupported else { throw error }
        }
    }

    /// Asks for the size first, and again where it has grown since.
    private static func bytes(_ call: (UnsafeMutablePointer<CChar>?, Int64) -> Int64) throws(Errno) -> [UInt8] {
        while true {
            let size = Errno.repeating(while: -Int64(EINTR)) { call(nil, 0) }
            guard size >= 0 else { throw Errno(rawValue: Int32(-size)) }
            var buffer = [CChar](repeating: 0, count: Int(size))
            let count = buffer.withUnsafeMutableBufferPointer { buffer in
                Errno.repeating(while: -Int64(EINTR)) { call(buffer.baseAddress, Int64(buffer.count)) }
            }
            if count == -Int64(Errno.outOfRange.rawValue) { continue }
            guard count >= 0 else { throw Errno(rawValue: Int32(-count)) }
            return buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }
        }
    }
}
