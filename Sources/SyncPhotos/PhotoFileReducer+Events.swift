package import SyncCore
import SyncDigest
package import SystemPackage

/// Photos that stand in files of gallery events, and those files.
extension PhotoFileReducer {
    package func reduce(_ photo: [UInt8], policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        let type = MediaType(sniffing: Array(photo.prefix(4_096))) ?? .unknown
        guard type.kind == .jpeg || type.kind == .image else {
            // Not said what it is instead: it may be somebody's words.
            throw PhotoError(.notAPhoto, "its photo is no picture")
        }
        let unchanged = StoredCopy(content: .unchanged, type: type, digest: ContentDigest(of: photo))
        guard type.kind == .jpeg else { return unchanged }
        return try PooledWork.step { () throws(PhotoError) in
            try photo.decoded(within: policy.limits) { (reader) throws(PhotoError) in
                try Self.reduce(reader, of: Int64(photo.count), unchanged: unchanged, policy: policy)
            }
        }
    }

    package func read(_ path: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        let file = try PhotoFile(opening: path)
        try file.require(stamp)
        let bytes = try file.read(range)
        try file.require(stamp)
        return bytes
    }
}
