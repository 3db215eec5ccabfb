import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncLedger
import SyncSystem
import SystemPackage

/// Makes the copies of a photo or a film that others may see. Its calls block, where they do not say otherwise: the caller
/// gives them a thread.
struct SharedCopyWork: Sendable {
    static let thumbnailSide = 320
    /// Bytes. A stored photo that is larger is not brought here: it has to pass through memory, and several do at once.
    static let mostBytes = 128 << 20

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
    /// Makes the file of an original that is stored as JPEG XL; `nil`: such a one counts as not kept.
    let recompressor: (any OriginalRecompressor)?

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

    /// Of what is kept of a photo's own bytes.
    /// - Parameters:
    ///   - md5: of the photo.
    ///   - pool: for what blocks.
    ///   - missed: told what the store has against it, unless it says nothing of the object.
    /// - Returns: `nil` where it cannot be read now, or more can be made of the stored copy: of a raw file in memory it is not
    ///   known that it is one.
    /// - Throws: ``StoreError``, ``PhotoError``, `CancellationError`.
    func copies(
        ofOriginal original: ObjectRecord, md5: MD5Digest, _ size: SharedSize, _ reader: ObjectReader,
        _ pool: BlockingPool, now: Date, missed: (StoreError) async throws -> Void = { _ in }
    ) async throws -> Copies? {
        guard original.isReadable(at: now), original.size <= Self.mostBytes,
            !MediaType.rawNames.contains(original.contentType)
        else { return nil }
        do {
            let stored = try await reader.read(original.key)
            return try await pool.run { [self] in
                try original.file(md5, of: stored, by: recompressor).map { try copies(of: .bytes($0), size) }
            }
        } catch let error as StoreError where [.archived, .notFound, .badDigest].contains(error.code) {
            try await missed(error)
        } catch let error as PhotoError where error.isPermanent {
            // The copy was made of the same bytes when they were stored.
        }
        return nil
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

extension ObjectRecord {
    /// The file of a photo again, of what is stored as this original. Blocks.
    /// - Parameters:
    ///   - md5: of the photo.
    ///   - recompressor: makes a JPEG of JPEG XL.
    /// - Returns: `nil` where it would not be the photo, or there is no recompressor for it.
    /// - Throws: ``PhotoError``, `Errno`.
    package func file(
        _ md5: MD5Digest, of stored: [UInt8], by recompressor: (any OriginalRecompressor)?
    ) throws -> [UInt8]? {
        var bytes = stored
        if encoding == .jxl {
            guard let recompressor else { return nil }
            let (input, output) = (try MemoryFile(named: "original"), try MemoryFile(named: "photo"))
            try input.write(stored)
            try recompressor.reconstruct(input.descriptor, size: Int64(stored.count), into: output.descriptor)
            bytes = try output.bytes(from: 0, Int(try output.size()))
        }
        return ContentDigest(of: bytes).md5 == md5 ? bytes : nil
    }
}
