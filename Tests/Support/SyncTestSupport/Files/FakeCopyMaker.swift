import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// Copies are texts: `shared A.JPG` of the photo whose stored copy is `A.JPG`.
package final class FakeCopyMaker: SharedCopyMaker {
    private static let tellsPlace = PhotoError(.tellsPlace, "it tells the place")

    private let disk: FakeDisk
    private let prefix = Lock("shared ")
    private let made = Lock<[String]>([])

    package init(disk: FakeDisk) {
        self.disk = disk
    }

    /// Whether there is nothing to take out, so that copies are as they are stored.
    package func keepsAll(_ keepsAll: Bool) { prefix.withLock { $0 = keepsAll ? "" : "shared " } }

    /// Of what copies were made, in order: `file a.jpg`, `bytes A.JPG`.
    package var sources: [String] { made.withLock { $0 } }

    package func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy {
        let text = try text(of: photo)
        made.withLock { made in
            if case .file(let path) = photo {
                made.append("file \(path.lastComponent?.string ?? "")")
            } else {
                made.append("bytes \(text)")
            }
        }
        if case .full = size { return copy("full \(text)") }
        return copy(prefix.withLock { $0 } + text)
    }

    /// `shared A.MP4`, as of a photo; its poster is `poster A.MP4`.
    package func sharedFilm(_ film: PhotoSource, as type: FilmType) throws(PhotoError) -> StoredCopy {
        guard try !text(of: film).contains("PLACE") else { throw Self.tellsPlace }
        var copy = try sharedCopy(of: film, size: .reduced(ReducePolicy()))
        copy.type = type.mediaType
        copy.duration = .milliseconds(1_500)
        return copy
    }

    /// A film whose text has `place` in it cannot be shared.
    package func requireSharable(film: FilePath, as type: FilmType) throws(PhotoError) {
        guard try !text(of: .file(film)).contains("PLACE") else { throw Self.tellsPlace }
    }

    package func poster(of film: FilePath, lasting duration: Duration?) throws(PhotoError) -> StoredCopy? {
        copy("poster \(try text(of: .file(film)))")
    }

    package func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy {
        copy("\(side) of \(try text(of: photo))")
    }

    private func text(of photo: PhotoSource) throws(PhotoError) -> String {
        switch photo {
        case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .file(let path):
            let copy = try disk.reduce(path, examined: disk.examine(path), policy: ReducePolicy())
            guard case .reduced(let bytes) = copy.content else { throw PhotoError(.corrupt, "no copy") }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func copy(_ text: String) -> StoredCopy {
        let bytes = Array(text.utf8)
        return StoredCopy(
            content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes), width: 4, height: 3,
            takenAt: CaptureTime(Date(timeIntervalSince1970: 1_718_400_000), offset: 0))
    }
}
