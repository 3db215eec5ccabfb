import SyncCore

/// A file's bytes, read here and there: metadata is looked for without reading the picture.
struct MetadataBytes {
    /// Of a block of metadata: more is not read.
    static let mostBytes = 1 << 20

    let size: Int64
    private let part: (Range<Int>) throws(PhotoError) -> [UInt8]

    init(_ bytes: [UInt8]) {
        size = Int64(bytes.count)
        part = { range throws(PhotoError) in Array(bytes[range.clamped(to: bytes.indices)]) }
    }

    /// - Parameter read: the bytes of a range; fewer where the file ends.
    init(size: Int64, read: @escaping (Range<Int>) throws(PhotoError) -> [UInt8]) {
        self.size = size
        part = read
    }

    /// So many bytes from an offset on, and at most ``mostBytes``; `nil` when not all of them are there.
    func read(_ offset: Int64, _ count: Int64) throws(PhotoError) -> [UInt8]? {
        guard offset >= 0, count >= 0, count <= Self.mostBytes, offset <= size - count else { return nil }
        let bytes = try part(Int(offset)..<Int(offset + count))
        return bytes.count == count ? bytes : nil
    }

    /// As many as there are.
    func head(_ count: Int) throws(PhotoError) -> [UInt8] {
        try part(0..<Int(min(Int64(count), size)))
    }
}

extension Collection<UInt8> {
    /// The bytes as a number, the first one the highest.
    var bigEndian: Int64 { reduce(0) { ($0 & 0xFF_FFFF_FFFF_FFFF) << 8 | Int64($1) } }
    var text: String { String(decoding: self, as: UTF8.self) }
}
