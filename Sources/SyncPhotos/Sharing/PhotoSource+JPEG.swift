import SyncCore
import SyncSystem

extension PhotoSource {
    /// Hands out the photo as a JPEG whose header was read, and as bytes.
    /// - Throws: what `body` throws; `.notAPhoto` when it is no JPEG; `.changed` when its file was written to meanwhile.
    func read<Result>(
        within limits: PhotoLimits,
        _ body: (borrowing JPEGReader, ByteStream) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try PooledWork.step { () throws(PhotoError) in try readAsStep(within: limits, body) }
    }

    private func readAsStep<Result>(
        within limits: PhotoLimits,
        _ body: (borrowing JPEGReader, ByteStream) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        switch self {
        case .bytes(let bytes):
            try Self.requireJPEG(bytes[...])
            return try bytes.decoded(within: limits) { (reader) throws(PhotoError) in
                try body(reader, ByteStream(bytes))
            }
        case .file(let path):
            let file = try PhotoFile(opening: path)
            let stamp = try file.stamp()
            let result: Swift.Result<Result, PhotoError>
            do {
                var stream = ByteStream(file.descriptor, size: stamp.size)
                try Self.requireJPEG(try stream.peek())
                let reader = try JPEGReader(reading: file.descriptor, limits: limits)
                result = .success(try body(reader, stream))
            } catch {
                result = .failure(error)
            }
            // Before the outcome counts: what was read while it was written may look damaged, and is not.
            try file.require(stamp)
            return try result.get()
        }
    }

    private static func requireJPEG(_ head: ArraySlice<UInt8>) throws(PhotoError) {
        let head = Array(head.prefix(4_096))
        guard !head.isEmpty else { throw PhotoError(.truncated, "the file is empty") }
        let type = MediaType(sniffing: head) ?? .unknown
        guard type.kind == .jpeg else {
            throw PhotoError(.notAPhoto, "only JPEG photos can be shared; this file is \(type), and may tell the place")
        }
    }
}

extension [UInt8] {
    /// Hands out a JPEG in memory whose header was read.
    func decoded<Result>(
        within limits: PhotoLimits, _ body: (borrowing JPEGReader) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try borrowed { (buffer) throws(PhotoError) in
            try body(try JPEGReader(reading: buffer, limits: limits))
        }
    }

    /// Hands out the bytes where they lie.
    func borrowed<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try withUnsafeBufferPointer(body)
    }
}
