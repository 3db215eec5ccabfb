import FoundationEssentials
import SyncCore
import SyncGzip
import SyncSystem
import SystemPackage

extension CatalogReader {
    private static let pieceLength = 256 << 10

    /// Reads a segment, and notes nothing of it.
    /// - Parameter take: gets each line but the first and the last one, in order.
    /// - Throws: ``CatalogError`` of one that is not whole; ``StoreError``, `CancellationError`, `Errno` of the disk.
    func lines(of segment: CatalogSegment, _ take: @escaping @Sendable (CatalogLine) throws -> Void) async throws {
        if let damage = try await fetch(segment) { throw damage }
        try await pool.runChecking { [self] flag in
            var reader = try CatalogFileReader(of: segment, keys)
            try pieces(flag) { try reader.read($0, take) }
            try reader.finish()
        }
    }

    /// Reads what ``fetch(_:)`` has brought.
    func pieces(_ flag: CancellationFlag, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let file = try FileDescriptor.open(spool, .readOnly, options: [.noFollow, .closeOnExec])
        defer { try? file.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            try flag.check()
            let count = try file.read(into: buffer)
            if count == 0 { return }
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
