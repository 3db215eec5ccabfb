import CSyncZlib

/// Why gzip bytes could not be made or read.
package enum GzipError: Error, Hashable, Sendable {
    /// They are no gzip, are damaged, or end early.
    case damaged
    case noMemory
}

/// Compresses a stream of bytes into the gzip format (RFC 1952). For one thread at a time.
package final class GzipWriter {
    private let stream: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    package init() throws(GzipError) {
        guard let stream = CSyncZlib_Deflate() else { throw .noMemory }
        self.stream = stream
    }

    deinit { CSyncZlib_Free(stream) }

    /// - Parameters:
    ///   - isLast: whether nothing follows: then the stream is ended.
    ///   - sink: gets what is ready, which may be nothing.
    package func write(
        _ bytes: some Sequence<UInt8>, isLast: Bool = false, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let input = Array(bytes)
        var taken = 0
        while true {
            var (inputCount, outputCount) = (input.count - taken, buffer.count)
            let answer = input.withUnsafeBufferPointer { input in
                buffer.withUnsafeMutableBufferPointer { output in
                    guard let base = output.baseAddress else { return Int32(CSyncZlib_NoMemory) }
                    return CSyncZlib_Run(
                        stream, input.baseAddress.map { $0 + taken }, &inputCount, base, &outputCount, isLast ? 1 : 0)
                }
            }
            taken += inputCount
            if outputCount > 0 { try buffer.withUnsafeBytes { try sink(.init(rebasing: $0[..<outputCount])) } }
            switch Int(answer) {
            case Int(CSyncZlib_Ended): return
            case Int(CSyncZlib_GoesOn):
                if !isLast, taken == input.count, outputCount < buffer.count { return }
            default: throw GzipError.noMemory
            }
        }
    }
}

/// Reads a stream in the gzip format. For one thread at a time.
package final class GzipReader {
    private let stream: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var isEnded = false

    package init() throws(GzipError) {
        guard let stream = CSyncZlib_Inflate() else { throw .noMemory }
        self.stream = stream
    }

    deinit { CSyncZlib_Free(stream) }

    /// - Parameter sink: gets what could be read.
    /// - Throws: ``GzipError``, also for bytes behind the end; what `sink` throws.
    package func read(_ input: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        let bytes = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var taken = 0
        while taken < input.count {
            if isEnded { throw GzipError.damaged }
            var count = input.count - taken
            let made = try run(bytes.map { $0 + taken }, &count, to: sink)
            taken += count
            if !isEnded, count == 0, made == 0 { throw GzipError.damaged }
        }
        // What is left in the stream when its output did not fit.
        while !isEnded {
            var count = 0
            if try run(nil, &count, to: sink) < buffer.count { return }
        }
    }

    /// - Parameter count: bytes that are there, and then those that were taken.
    /// - Returns: how many were made of them.
    private func run(
        _ bytes: UnsafePointer<UInt8>?, _ count: inout Int, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        var made = buffer.count
        let answer = buffer.withUnsafeMutableBufferPointer { output in
            guard let base = output.baseAddress else { return Int32(CSyncZlib_NoMemory) }
            return CSyncZlib_Run(stream, bytes, &count, base, &made, 0)
        }
        if made > 0 { try buffer.withUnsafeBytes { try sink(.init(rebasing: $0[..<made])) } }
        switch Int(answer) {
        case Int(CSyncZlib_Ended): isEnded = true
        case Int(CSyncZlib_GoesOn): break
        case Int(CSyncZlib_NoMemory): throw GzipError.noMemory
        default: throw GzipError.damaged
        }
        return made
    }

    /// - Throws: ``GzipError`` when the stream has not come to its end.
    package func finish() throws(GzipError) {
        guard isEnded else { throw .damaged }
    }
}

/// Checksums against accidents.
package enum Checksum {
    /// As gzip and ZIP have it (RFC 1952, 8).
    /// - Parameter sum: that of the bytes in front of these; 0 is that of none.
    package static func crc32(_ bytes: [UInt8], after sum: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBufferPointer { CSyncZlib_CRC32(sum, $0.baseAddress, $0.count) }
    }
}
