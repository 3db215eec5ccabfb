import FoundationEssentials
import SyncCore
import SyncGzip
import SyncSystem
import SystemPackage

extension CatalogReader {
    /// Reads a segment, and notes nothing of it.
    /// - Parameter take: gets each line but the first and the last one, in order.
    /// - Throws: ``CatalogError`` of one that is not whole; ``StoreError``, `CancellationError`, `Errno` of the disk.
    func lines(of segment: CatalogSegment, _ take: @escaping @Sendable (CatalogLine) throws -> Void) async throws {
        if let damage = try await fetch(segment) { throw damage }
        try await pool.runChecking { [self] flag in
            var reader = try CatalogFileReader(of: segment, keys)
            let file = try FileDescriptor.open(spool, .readOnly, options: [.noFollow, .closeOnExec])
            defer { try? file.close() }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                try flag.check()
                let count = try file.read(into: buffer)
                if count == 0 { break }
                try reader.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]), take)
            }
            try reader.finish()
        }
    }
}
