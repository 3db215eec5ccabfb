import SyncCore
import SyncDigest
import SyncSystem

/// A film's bytes, read here and there, as they are or as patches make them.
struct FilmBytes {
    private static let windowSize = 256 << 10

    let size: Int
    private let patches: FilePatches
    private let part: (Range<Int>) throws(PhotoError) -> [UInt8]

    func patched(by patches: FilePatches) -> FilmBytes { FilmBytes(size: size, patches: patches, part: part) }

    /// - Throws: `.changed` where the film ends before the range does.
    func read(_ range: Range<Int>) throws(PhotoError) -> [UInt8] {
        var bytes = try part(range)
        guard bytes.count == range.count else { throw PhotoError(.changed, "the film became shorter meanwhile") }
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: Int64(range.lowerBound)) }
        return bytes
    }

    /// Hands out all bytes of a range, a window at a time.
    func readAll(
        of range: Range<Int>, _ body: ([UInt8]) throws(PhotoError) -> Void
    ) throws(PhotoError) {
        var at = range.lowerBound
        while at < range.upperBound {
            try PhotoError.checkStopped()
            let end = min(at + Self.windowSize, range.upperBound)
            try body(try read(at..<end))
            at = end
        }
    }

    func digest() throws(PhotoError) -> ContentDigest {
        var hasher = ContentHasher()
        try readAll(of: 0..<size) { bytes in bytes.withUnsafeBytes { hasher.update($0) } }
        return hasher.finalize()
    }

    // MARK: Boxes

    private static let mostBoxes = 4_096

    /// The boxes at the top level.
    /// - Throws: `.tellsPlace` when they do not fill the film.
    func boxes() throws(PhotoError) -> [Box] {
        var boxes: [Box] = []
        var at = 0
        while at < size {
            let head = try read(at..<min(at + 16, size))
            guard boxes.count < Self.mostBoxes, let box = Box(head, from: 0, at: at, before: size) else {
                throw .unclear(FilmRules.name)
            }
            boxes.append(box)
            at = box.all.upperBound
        }
        return boxes
    }
}

extension FilmBytes {
    /// - Parameter file: has to stay open for as long as these are read.
    init(_ file: borrowing PhotoFile, size: Int64) {
        let descriptor = file.descriptor
        self.init(size: Int(size), patches: .none) { range throws(PhotoError) in
            try PhotoFile.read(range, of: descriptor)
        }
    }

    init(_ bytes: [UInt8]) {
        self.init(size: bytes.count, patches: .none) { range throws(PhotoError) in
            Array(bytes[range.clamped(to: bytes.indices)])
        }
    }
}
