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
        var taken = 0
        while taken < input.count {
            if isEnded { throw GzipError.damaged }
            var (inputCount, outputCount) = (input.count - taken, buffer.count)
            let answer = buffer.withUnsafeMutableBufferPointer { output in
                guard let base = output.baseAddress else { return Int32(CSyncZlib_NoMemory) }
                let bytes = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return CSyncZlib_Run(stream, bytes.map { $0 + taken }, &inputCount, base, &outputCount, 0)
            }
            taken += inputCount
            if outputCount > 0 { try buffer.withUnsafeBytes { try sink(.init(rebasing: $0[..<outputCount])) } }
            switch Int(answer) {
            case Int(CSyncZlib_Ended): isEnded = true
            case Int(CSyncZlib_GoesOn):
                if inputCount == 0, outputCount == 0 { throw GzipError.damaged }
            case Int(CSyncZlib_NoMemory): throw GzipError.noMemory
            default: throw GzipError.damaged
            }
        }
        // What is left in the stream when its output did not fit.
        while !isEnded {
            var (inputCount, outputCount) = (0, buffer.count)
            let answer = buffer.withUnsafeMutableBufferPointer { output in
                guard let base = output.baseAddress else { return Int32(CSyncZlib_NoMemory) }
                return CSyncZlib_Run(stream, nil, &inputCount, base, &outputCount, 0)
            }
            if outputCount > 0 { try buffer.withUnsafeBytes { try sink(.init(rebasing: $0[..<outputCount])) } }
            switch Int(answer) {
            case Int(CSyncZlib_Ended): isEnded = true
            case Int(CSyncZlib_GoesOn): if outputCount < buffer.count { return }
            case Int(CSyncZlib_NoMemory): throw GzipError.noMemory
            default: throw GzipError.damaged
            }
        }
    }

    /// - Throws: ``GzipError`` when the stream has not come to its end.
    package func finish() throws(GzipError) {
        guard isEnded else { throw .damaged }
    }
}
