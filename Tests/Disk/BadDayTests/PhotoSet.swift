import SyncCore
import SyncDigest
import SystemPackage

/// A folder of photos that all differ, in memory. The stored copy of each is other bytes than its file.
struct PhotoSet: TreeScanner, PhotoReducer {
    static let folder = WatchedFolder(kind: .gallery, path: "/pictures")
    private static let size = 2_000

    let count: Int

    /// What has to be stored for a photo.
    func copy(of index: Int) -> [UInt8] { Self.bytes("copy of photo \(index) ") }

    func key(of index: Int) throws -> ObjectKey {
        try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Self.bytes("photo \(index) ")).md5))
    }

    private static func bytes(_ text: String) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0x2E, count: size - text.utf8.count)
    }

    private func index(of file: FilePath) -> Int? {
        file.stem.flatMap { Int($0) }.flatMap { (0..<count).contains($0) ? $0 : nil }
    }

    private static func stamp(_ index: Int) -> FileStamp {
        FileStamp(device: 1, inode: UInt64(index) + 1, size: Int64(size), modified: 1_000_000_000_000_000)
    }

    // MARK: TreeScanner

    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        let files = (0..<count).compactMap { index in
            FilePath.Component("\(index).jpg").map { ScannedFile(name: $0, stamp: Self.stamp(index)) }
        }
        try visit(ScannedFolder(path: "", files: files))
    }

    func stamp(of file: FilePath) throws(ScanError) -> FileStamp? { index(of: file).map(Self.stamp) }

    func isBeingWritten(_ file: FilePath) -> Bool { false }

    // MARK: PhotoReducer

    func examine(_ file: FilePath) throws(PhotoError) -> PhotoFacts {
        guard let index = index(of: file) else { throw PhotoError(.missing, "it is gone") }
        let digest = ContentDigest(of: Self.bytes("photo \(index) "))
        return PhotoFacts(stamp: Self.stamp(index), type: .jpeg, digest: digest)
    }

    func whyUnwanted(_ file: FilePath, stamp: FileStamp) -> String? { nil }

    func reduce(
        _ file: FilePath, examined: PhotoFacts, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        guard let index = index(of: file) else { throw PhotoError(.missing, "it is gone") }
        let bytes = copy(of: index)
        return StoredCopy(
            content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes), width: 4, height: 3)
    }

    func reduce(_ photo: [UInt8], as type: MediaType?, policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        throw PhotoError(.notAPhoto, "the set holds files only")
    }

    func read(_ file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        guard let index = index(of: file) else { throw PhotoError(.missing, "it is gone") }
        return Array(Self.bytes("photo \(index) ")[range])
    }
}
