import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// Files that are mostly holes: places that nobody ever wrote to, which read as zeros and take no room on the disk.
extension PhotoFile {
    /// Bytes below which it costs nothing to read a file to its end.
    private static let worthALook: Int64 = 16 << 20
    /// The smallest part of a photo or film that was written. No program leaves that much of one out: what does is a
    /// download that reserved its room, or a file that was made to be large.
    private static let leastWritten: Int64 = 8
    /// Pieces between holes that are counted; a file with more of them is read.
    private static let mostPieces = 65_536

    /// Throws `.truncated` for a file of which almost nothing was ever written. Nothing of it is read for that.
    func requireWritten(size: Int64) throws(PhotoError) {
        guard size >= Self.worthALook, allocated < size / Self.leastWritten,
            let written = try written(of: size), written < size / Self.leastWritten
        else { return }
        throw PhotoError(
            .truncated,
            "of its \(size) bytes only \(written) were ever written, the rest are holes; it is stored when it is whole "
                + "(a download or a copy that has not ended?)")
    }

    /// Bytes on the disk (`st_blocks`, inode(7)). It may be too few: some file systems count only what they have put on
    /// the disk already, and others pack.
    private var allocated: Int64 {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { return .max }
        return Int64(status.st_blocks) * 512
    }

    /// Bytes outside of holes (lseek(2), `SEEK_DATA`); `nil` where the file system does not tell, or where there are too
    /// many pieces. One that knows nothing of holes tells that there are none.
    private func written(of size: Int64) throws(PhotoError) -> Int64? {
        defer { _ = lseek(descriptor.rawValue, 0, SEEK_SET) }
        var (at, written): (Int64, Int64) = (0, 0)
        for _ in 0..<Self.mostPieces {
            try PhotoError.checkStopped()
            let start = Int64(lseek(descriptor.rawValue, off_t(at), Self.data))
            // There is no more of it.
            if start < 0 { return errno == ENXIO ? written : nil }
            let end = Int64(lseek(descriptor.rawValue, off_t(start), Self.hole))
            guard end > start else { return nil }
            written += end - start
            if end >= size { return written }
            at = end
        }
        return nil
    }

    /// `SEEK_DATA` and `SEEK_HOLE` of Linux, which Glibc shows only to GNU sources.
    private static let (data, hole) = (Int32(3), Int32(4))
}
