import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// A photo's bytes in order, a window at a time. A value of its own: copies read on from where they are.
struct ByteStream {
    private static let windowSize = 256 << 10

    /// What was read and not yet taken begins at `at`.
    private var window: [UInt8]
    private var at = 0
    private let descriptor: FileDescriptor?
    private var offset: Int64 = 0
    /// Bytes from the first to the last, in all.
    let size: Int64

    /// - Parameter start: how many bytes count as taken.
    init(_ bytes: [UInt8], from start: Int64 = 0) {
        window = bytes
        at = min(Int(start), bytes.count)
        descriptor = nil
        size = Int64(bytes.count)
    }

    /// - Parameters:
    ///   - descriptor: stays the caller's, and open for as long as the stream; its own position is not used.
    ///   - size: where the stream ends, whatever is written to the file meanwhile.
    ///   - start: how many bytes count as taken.
    init(_ descriptor: FileDescriptor, size: Int64, from start: Int64 = 0) {
        window = []
        self.descriptor = descriptor
        self.size = size
        offset = min(start, size)
    }

    /// How many bytes were taken.
    var position: Int64 { descriptor == nil ? Int64(at) : offset - Int64(window.count - at) }

    /// The bytes that come next, without taking them: a window of them, at least one unless this is the end.
    mutating func peek() throws(PhotoError) -> ArraySlice<UInt8> {
        if at == window.count, let descriptor {
            window = try Self.read(descriptor, at: offset, atMost: min(Self.windowSize, Int(size - offset)))
            offset += Int64(window.count)
            at = 0
        }
        return window[at...]
    }

    /// `nil` at the end.
    mutating func next() throws(PhotoError) -> UInt8? {
        guard let byte = try peek().first else { return nil }
        at += 1
        return byte
    }

    /// Takes at most `count` bytes; fewer at the end.
    mutating func take(_ count: Int, into output: inout [UInt8]) throws(PhotoError) {
        var rest = count
        while rest > 0 {
            let piece = try peek().prefix(rest)
            guard !piece.isEmpty else { return }
            output.append(contentsOf: piece)
            at += piece.count
            rest -= piece.count
        }
    }

    mutating func skip(_ count: Int) throws(PhotoError) {
        var rest = count
        while rest > 0 {
            let skipped = min(try peek().count, rest)
            guard skipped > 0 else { return }
            at += skipped
            rest -= skipped
        }
    }

    /// Takes all that comes in front of the next 0xFF, or of the end.
    mutating func takeToFF(into output: inout [UInt8]) throws(PhotoError) {
        while true {
            let rest = try peek()
            guard !rest.isEmpty else { return }
            let end = rest.firstIndex(of: 0xFF) ?? rest.endIndex
            output.append(contentsOf: rest[..<end])
            at = end
            guard end == rest.endIndex else { return }
        }
    }

    /// Skips all that comes in front of the next 0xFF, or of the end.
    mutating func skipToFF() throws(PhotoError) {
        while true {
            let rest = try peek()
            guard !rest.isEmpty else { return }
            let found = rest.withUnsafeBytes { bytes in
                bytes.baseAddress.flatMap { start in
                    memchr(start, 0xFF, bytes.count).map { UnsafeRawPointer($0) - start }
                }
            }
            at += found ?? rest.count
            guard found == nil else { return }
        }
    }

    private static func read(
        _ descriptor: FileDescriptor, at offset: Int64, atMost limit: Int
    ) throws(PhotoError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                count = try descriptor.read(
                    at: offset,
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<limit]))
            }
        } catch {
            throw PhotoError(error, "read")
        }
    }
}
