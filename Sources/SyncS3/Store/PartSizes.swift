/// How a large file is cut. S3 takes at most 10,000 parts, each of 5 MiB to 5 GiB, and in one piece no more than 5 GiB (S3
/// User Guide, "Amazon S3 multipart upload limits").
package struct PartSizes: Hashable, Sendable {
    private static let maximumParts: Int64 = 10_000

    /// Bytes of the smallest file that is sent in parts.
    package var threshold: Int64
    /// Bytes of a part, where 10,000 of them are enough.
    package var smallestPart: Int64

    package init(threshold: Int64 = 64 << 20, smallestPart: Int64 = 16 << 20) {
        self.threshold = threshold
        self.smallestPart = smallestPart
    }

    /// All parts in their order: equal ones, and a last one that may be shorter.
    package func parts(of size: Int64) -> [Range<Int64>] {
        let needed = (size + Self.maximumParts - 1) / Self.maximumParts
        let part = max(smallestPart, needed)
        return stride(from: 0, to: size, by: Int64.Stride(part)).map { $0..<min($0 + part, size) }
    }
}
