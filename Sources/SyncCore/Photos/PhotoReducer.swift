package import SystemPackage

/// Reads photos and makes the copies that are stored. Its calls block and burn CPU: the caller gives them a thread. Whatever
/// a strange file could make endless is done in a `PooledWork.step`, and long reading asks whether it shall stop.
package protocol PhotoReducer: Sendable {
    /// Reads the file once, to its end: what it is, and its digests.
    /// - Throws: ``PhotoError``; `.changed` when the file's stamp before and after reading differ.
    func examine(_ file: FilePath) throws(PhotoError) -> PhotoFacts

    /// Reads the beginning of a file, and no more.
    /// - Parameter stamp: of the file that is meant.
    /// - Returns: why ``examine(_:)`` refuses it as `.notStored`, in the same words; `nil` where it does not, where that takes
    ///   more than the beginning, and for another file.
    func whyUnwanted(_ file: FilePath, stamp: FileStamp) -> String?

    /// Makes the stored copy of a file that was examined.
    ///
    /// A photo that can be decoded comes out with its longer side at most `policy.maximumDimension`, upright, never
    /// enlarged; beyond that it becomes a JPEG, whatever it was. It is decoded to its end in any case, so that a damaged
    /// file never counts as safe. Other types are stored as they are, as is a picture of a kind that cannot be decoded;
    /// the copy's note tells that.
    ///
    /// With `policy.stripLocation` no copy of any type tells where it was taken, by its position, by a name or in words.
    /// - Throws: ``PhotoError``; `.tellsPlace` when that cannot be promised of this file; `.changed` when the file is no longer the one that was examined.
    func reduce(_ file: FilePath, examined: PhotoFacts, policy: ReducePolicy) throws(PhotoError) -> StoredCopy

    /// Makes the stored copy of a photo that is no file, as of a file. `.unchanged` means the bytes as they were given.
    /// - Parameter type: as its file was known by; `nil` where there was none. By their bytes alone, most raw files are
    ///   TIFF.
    /// - Throws: ``PhotoError``, `.notAPhoto` for what is no image.
    func reduce(_ photo: [UInt8], as type: MediaType?, policy: ReducePolicy) throws(PhotoError) -> StoredCopy

    /// Reads bytes of a file that was examined.
    /// - Throws: ``PhotoError``; `.changed` when the file is no longer the one that was examined.
    func read(_ file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8]
}

extension PhotoReducer {
    /// Of a photo that was never a file.
    package func reduce(_ photo: [UInt8], policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        try reduce(photo, as: nil, policy: policy)
    }
}

/// What one reading of a file tells.
package struct PhotoFacts: Hashable, Sendable {
    package var stamp: FileStamp
    package var type: MediaType
    /// Of the bytes on the disk; the MD5 is the photo's identity.
    package var digest: ContentDigest

    package init(stamp: FileStamp, type: MediaType, digest: ContentDigest) {
        self.stamp = stamp
        self.type = type
        self.digest = digest
    }

    package var id: PhotoID { PhotoID(digest.md5) }
}

/// How photos are reduced: the `photos` section of the configuration, and the limits.
package struct ReducePolicy: Hashable, Sendable {
    /// The longer side of a stored copy, in pixels.
    package var maximumDimension: Int
    /// JPEG quality, 1 to 100.
    package var quality: Int
    /// Leaves out of the stored copy all that says where it was taken; where that is not possible, there is none.
    package var stripLocation: Bool
    package var limits: PhotoLimits

    package init(
        maximumDimension: Int = 2_048, quality: Int = 80, stripLocation: Bool = false,
        limits: PhotoLimits = PhotoLimits()
    ) {
        self.maximumDimension = maximumDimension
        self.quality = quality
        self.stripLocation = stripLocation
        self.limits = limits
    }
}

/// What a photo may ask for. Checked before anything is decoded.
package struct PhotoLimits: Hashable, Sendable {
    /// Bytes of the file.
    package var fileSize: Int64
    /// Width × height.
    package var pixels: Int64
    /// Bytes that decoding may take. Of JPEGs, only progressive and other multi-scan files need more than a few MiB.
    package var memory: Int64

    package init(fileSize: Int64 = 1 << 30, pixels: Int64 = 1_000_000_000, memory: Int64 = 512 << 20) {
        self.fileSize = fileSize
        self.pixels = pixels
        self.memory = memory
    }
}

/// The bytes that are stored for a photo, and what is known of them.
package struct StoredCopy: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case reduced([UInt8])
        /// The file with other bytes in some places.
        case patched(FilePatches)
        /// The file itself, as it is on the disk.
        case unchanged
    }

    package var content: Content
    package var type: MediaType
    /// Digests of the stored bytes; those of the file when it is stored unchanged.
    package var digest: ContentDigest
    /// Pixels of the stored copy as it is seen, upright; `nil` where they are not known.
    package var width: Int?
    package var height: Int?
    /// Of a film; `nil` where it is not known.
    package var duration: Duration?
    package var takenAt: CaptureTime?
    /// What the photo has and the copy has not, in the order of their names' list.
    package var dropped: [DroppedPart] = []
    /// What else its owner should know of the copy, in plain words.
    package var note: String?

    package init(
        content: Content, type: MediaType, digest: ContentDigest, width: Int? = nil, height: Int? = nil,
        duration: Duration? = nil, takenAt: CaptureTime? = nil
    ) {
        self.content = content
        self.type = type
        self.digest = digest
        self.width = width
        self.height = height
        self.duration = duration
        self.takenAt = takenAt
    }
}

/// Makes what may leave for others: copies of photos that tell nothing but the picture. Its calls block and burn CPU: the
/// caller gives them a thread.
///
/// Promise, for every copy: no GPS, maker note, serial number, name of a person, text, embedded preview, XMP, IPTC or
/// comment is in it, and nothing behind the picture's end; colours (ICC profile, colour space), orientation and times are
/// as they were. A copy was decoded to its end: a damaged photo is an error. The same photo gives the same bytes.
package protocol SharedCopyMaker: Sendable {
    /// The copy of a photo that is shared. It is a JPEG, whatever the photo is.
    ///
    /// A photo beyond the policy's size gives the same bytes from its file and from its stored copy. A photo that is
    /// shared as it is stored, because it tells nothing and is small enough, gives the stored copy's bytes.
    /// - Returns: a copy whose content is `.reduced`, also when nothing had to be changed; width and height as it is seen.
    /// - Throws: ``PhotoError``; `.notAPhoto` for what is no photo, and `.unsupported` for one that cannot be decoded:
    ///   nothing of them could be left out; `.changed` when the file was written to meanwhile.
    func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy

    /// The copy of a film that is shared: its pictures and sound as they are, and of what stands beside them only what is
    /// known to tell nothing but its times.
    /// - Returns: a copy of the same length. Its content is `.patched` for a file, and `.reduced` for bytes.
    /// - Throws: ``PhotoError``; `.tellsPlace` when that cannot be promised of this film.
    func sharedFilm(_ film: PhotoSource, as type: FilmType) throws(PhotoError) -> StoredCopy

    /// Reads no more of a film than it takes to know whether ``sharedFilm(_:as:)`` can make a copy of it.
    /// - Throws: ``PhotoError``, as that does, in the same words.
    func requireSharable(film: FilePath, as type: FilmType) throws(PhotoError)

    /// A picture of a film for pages, as a JPEG; `nil` where none can be made.
    func poster(of film: FilePath, lasting duration: Duration?) throws(PhotoError) -> StoredCopy?

    /// A small upright JPEG for pages, without any metadata but its ICC profile. It is never enlarged.
    /// - Parameter side: the longer side at most, in pixels.
    func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy
}

/// Where the bytes of a photo are.
package enum PhotoSource: Hashable, Sendable {
    case file(FilePath)
    /// A whole file's bytes, in memory.
    case bytes([UInt8])
}

/// What a recipient gets.
package enum SharedSize: Hashable, Sendable {
    /// Reduced as ``ReducePolicy`` says. A JPEG that is within the limit, and that encoding anew would not make clearly
    /// smaller, keeps its picture's data.
    case reduced(ReducePolicy)
    /// The data of a JPEG's picture byte for byte, with what must not leave cut out around it; of other photos the whole
    /// picture as a JPEG.
    case full(PhotoLimits)
}

/// Why a file could not become a stored copy.
package struct PhotoError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// The file ends before the picture does, or is empty.
        case truncated
        /// The picture's data is damaged.
        case corrupt
        /// A format or variant that the codec does not know (12 bit, lossless). What is stored of it is the file itself.
        case unsupported
        /// Beyond ``PhotoLimits``.
        case overLimit
        /// The name says photo, the bytes do not.
        case notAPhoto
        /// It tells where it was taken, or that cannot be ruled out, and `strip_location` keeps that here.
        case tellsPlace
        /// Neither photo nor video: nothing that this folder stores.
        case notStored
        /// What has the name now is no file: a link, a folder, a pipe; or a link above it leads nowhere. It says nothing of the
        /// file that had the name, and may have it again.
        case notAFile
        /// The file was written to while it was read, or is open for writing.
        case changed
        /// It is gone.
        case missing
        /// open(2) or read(2) failed: permission, I/O.
        case unreadable
        /// The machine is out of memory or descriptors.
        case outOfResources
        /// Its decoding did not end (`StepWatch`).
        case tooSlow
        /// Whoever asked for it does not wait any longer: the agent stops.
        case stopped
    }

    package var code: Code
    /// The reason in plain words; the codec's own words where it has any.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same bytes would fail again. A failed photo is tried again only when its file changes.
    package var isPermanent: Bool {
        switch code {
        case .truncated, .corrupt, .unsupported, .overLimit, .notAPhoto, .tellsPlace, .notStored, .tooSlow: true
        case .notAFile, .changed, .missing, .unreadable, .outOfResources, .stopped: false
        }
    }

    package var description: String { message }

    package static let tooSlow = PhotoError(
        .tooSlow,
        "its picture or metadata could not be read within a minute, and it was set aside; look at the file, and ask for "
            + "another try with sync-agent retry")
}
