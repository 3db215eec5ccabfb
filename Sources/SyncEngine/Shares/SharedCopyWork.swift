import SyncCore
import SyncDigest
import SystemPackage

/// Makes the copies of a photo or a film that others may see. Its calls block: the caller gives them a thread.
struct SharedCopyWork: Sendable {
    static let thumbnailSide = 320

    struct Copies: Sendable {
        let photo: Made
        /// `nil` for a film of which no picture can be made.
        let thumbnail: Made?
    }

    /// A copy, and the bytes that it consists of.
    struct Made: Sendable {
        let copy: StoredCopy
        let body: ObjectBody
    }

    let reducer: any PhotoReducer
    let maker: any SharedCopyMaker

    /// Of a file, as long as it is the photo that was chosen.
    /// - Parameter stored: of its stored copy, which in its place, after a restore, is the photo too.
    func copies(
        of file: FilePath, md5: MD5Digest, stored: SHA256Digest?, _ size: SharedSize
    ) throws(PhotoError) -> Copies {
        let before = try reducer.examine(file)
        guard before.digest.md5 == md5 || before.digest.sha256 == stored else {
            throw PhotoError(.changed, "the file has changed")
        }
        let copies = try copies(of: file, before, size)
        // Made of other bytes than those that were examined, it would be another photo.
        guard try reducer.examine(file).stamp == before.stamp else {
            throw PhotoError(.changed, "the file has changed")
        }
        return copies
    }

    func copies(of source: PhotoSource, _ size: SharedSize) throws(PhotoError) -> Copies {
        let photo = try maker.sharedCopy(of: source, size: size)
        let thumbnail = try maker.thumbnail(of: source, side: Self.thumbnailSide)
        return Copies(
            photo: Made(copy: photo, body: Self.body(photo)),
            thumbnail: Made(copy: thumbnail, body: Self.body(thumbnail)))
    }

    /// Of a film that is not on this disk there is no poster.
    func filmCopies(of bytes: [UInt8], as film: FilmType) throws(PhotoError) -> Copies {
        let copy = try maker.sharedFilm(.bytes(bytes), as: film)
        return Copies(photo: Made(copy: copy, body: Self.body(copy)), thumbnail: nil)
    }

    private func copies(
        of file: FilePath, _ examined: PhotoExamination, _ size: SharedSize
    ) throws(PhotoError) -> Copies {
        guard let film = FilmType(contentType: examined.type.name) else { return try copies(of: .file(file), size) }
        if let reason = Self.refusal(ofFilmOf: examined.stamp.size) { throw PhotoError(.overLimit, reason) }
        let copy = try maker.sharedFilm(.file(file), as: film)
        let poster = try maker.poster(of: file, lasting: copy.duration)
        return Copies(
            photo: Made(copy: copy, body: ObjectBody(copy, of: file, examined.stamp)),
            thumbnail: poster.map { Made(copy: $0, body: Self.body($0)) })
    }

    /// - Parameter size: in bytes.
    static func refusal(ofFilmOf size: Int64) -> String? {
        let limit = ShareManifestRules.maximumFilmSize
        return size > limit ? "films of more than \(limit >> 30) GiB are not shared" : nil
    }

    private static func body(_ copy: StoredCopy) -> ObjectBody {
        guard case .reduced(let bytes) = copy.content else { preconditionFailure("copies for others are bytes") }
        return ObjectBody(bytes: bytes, digest: copy.digest)
    }
}
