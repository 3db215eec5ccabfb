package import SyncCore
import SyncDigest
package import SystemPackage

/// The bytes of one request, with the digests that prove them: an object whole, or a part of a file.
package struct HTTPBody: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case bytes([UInt8])
        /// From the disk, without a copy in memory, beginning at a byte of the file. The file has to have the stamp.
        case file(FilePath, FileStamp, from: Int64)
    }

    package let source: Source
    package let size: Int64
    package let digest: ContentDigest

    package init(_ body: ObjectBody) {
        source =
            switch body.source {
            case .bytes(let bytes): .bytes(bytes)
            case .file(let path, let stamp): .file(path, stamp, from: 0)
            }
        size = body.size
        digest = body.digest
    }

    package init(bytes: [UInt8]) {
        source = .bytes(bytes)
        size = Int64(bytes.count)
        digest = ContentDigest(of: bytes)
    }

    /// - Parameter digest: of the part alone.
    package init(file: FilePath, stamp: FileStamp, range: Range<Int64>, digest: ContentDigest) {
        source = .file(file, stamp, from: range.lowerBound)
        size = range.upperBound - range.lowerBound
        self.digest = digest
    }
}
