package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// Photos that stand in files of gallery events, and those files.
extension PhotoFileReducer {
    package func reduce(_ photo: [UInt8], policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        let type = MediaType(sniffing: Array(photo.prefix(4_096))) ?? .unknown
        guard type.kind == .jpeg || type.kind == .image else {
            // Not said what it is instead: it may be somebody's words.
            throw PhotoError(.notAPhoto, "its photo is no picture")
        }
        var unchanged = StoredCopy(content: .unchanged, type: type, digest: ContentDigest(of: photo))
        unchanged.takenAt = try PooledWork.step { () throws(PhotoError) in
            try CaptureTimeReader(bytes: MetadataBytes(photo)).captureTime(at: now())
        }
        let original = unchanged
        guard type.kind == .jpeg else { return try Self.copy(of: photo, original, policy: policy) }
        return try PooledWork.step { () throws(PhotoError) in
            // The array is borrowed for as long as the reader lives.
            try photo.borrowed { (buffer) throws(PhotoError) in
                let copy = JPEGCopy(photo: ByteStream(photo), unchanged: original, policy: policy)
                return try copy.make { () throws(PhotoError) in
                    try JPEGReader(reading: buffer, limits: policy.limits)
                }
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
