import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// A file on its way in parts. The object comes into being when all are there; before that, a failure or cancellation
/// takes the parts back.
struct MultipartUpload: Sendable {
    private static let partsInFlight = 3

    let client: S3Client
    let context: S3RequestContext
    let key: ObjectKey
    let body: ObjectBody
    let path: FilePath
    let stamp: FileStamp
    let attributes: ObjectAttributes
    let parts: [Range<Int64>]

    /// What the store says of the object that it has made of the parts.
    struct Made: Sendable {
        let etag: String?
        /// Whether its ETag is that of the parts as they were sent.
        let isProven: Bool
    }

    private struct SentPart: Sendable {
        let tag: String
        /// Of the bytes that were sent.
        let md5: MD5Digest
    }

    /// - Parameter wanted: features of the request that makes the object.
    /// - Throws: ``StoreError``, `CancellationError`.
    func run(wanting wanted: PutFeatures) async throws -> Made {
        let upload = try await create()
        let sent = Lock<Int64>(0)
        do {
            let parts = try await sendParts(of: upload) { count in sent.withLock { $0 += count } }
            let etag = try await client.onceMore { try await complete(upload, parts.map(\.tag), wanting: wanted) }
            await client.memory?.forget(upload)
            return Made(etag: etag, isProven: etag == Self.expectedTag(of: parts.map(\.md5)))
        } catch {
            let failure = Self.adding(error, sentBytes: sent.withLock { $0 })
            throw await client.giveUp(upload, after: failure)
        }
    }

    private func create() async throws -> MultipartID {
        let response = try await client.store(
            context, wanting: [.storageClass, .encryption, .tags], storageClass: attributes.storageClass,
            beforeUnconditional: {}
        ) { try $0.createUpload(at: key, attributes: attributes, features: $1) }
        guard response.status == 200 else { throw client.failure(response, context) }
        let upload = try response.content(context) { try MultipartReply.created($0, key: key) }
        await client.memory?.note(upload)
        if let failure = await client.encryptionFailure(response, context) {
            throw await client.giveUp(upload, after: failure)
        }
        return upload
    }

    /// The parts follow each other from the disk, so that no more of the file is in memory than curl's buffers.
    /// - Parameter noteSent: gets the bytes of each part that the store has taken.
    private func sendParts(
        of upload: MultipartID, noteSent: @escaping @Sendable (Int64) -> Void
    ) async throws -> [SentPart] {
        // Reading a file blocks.
        let pool = BlockingPool(name: "parts", threads: 1, abandoningAfter: SignOfLife.patienceAtEnd)
        let result: [SentPart]
        do {
            result = try await sendParts(
                of: upload, readBy: SourceReads(pool: pool, disks: client.disks), noteSent: noteSent)
        } catch {
            await pool.shutDown()
            throw error
        }
        await pool.shutDown()
        return result
    }

    private func sendParts(
        of upload: MultipartID, readBy reads: SourceReads, noteSent: @escaping @Sendable (Int64) -> Void
    ) async throws -> [SentPart] {
        try await withThrowingTaskGroup(of: (Int, SentPart).self) { group in
            var sentParts = [SentPart?](repeating: nil, count: parts.count)
            do {
                let hasher = try await reads.run(path, stamp) { [path, stamp, body] in
                    try PartHasher(path, stamp: stamp, patches: body.patches, closedBy: reads)
                }
                for (index, range) in parts.enumerated() {
                    let part = try await reads.run(path, stamp) { try hasher.body(of: range) }
                    if index >= Self.partsInFlight, let (index, sent) = try await group.next() {
                        sentParts[index] = sent
                    }
                    group.addTask {
                        let sent = try await client.onceMore { try await send(part, number: index + 1, of: upload) }
                        noteSent(range.upperBound - range.lowerBound)
                        return (index, sent)
                    }
                }
                for try await (index, sent) in group { sentParts[index] = sent }
                guard hasher.finish() == body.digest.sha256 else {
                    throw TransportError(
                        .digestMismatch, "the bytes that were read are not those that were hashed before")
                }
            } catch let error as TransportError {
                throw StoreError(error, in: context)
            }
            return sentParts.compactMap(\.self)
        }
    }

    private func send(_ part: HTTPBody, number: Int, of upload: MultipartID) async throws -> SentPart {
        let response = try await client.send(context) { $0.part(part, number: number, of: upload) }
        guard response.status == 200, response.isAnswer else { throw client.failure(response, context) }
        guard let tag = response.headers["ETag"], !tag.isEmpty else {
            throw client.error(.invalidResponse, context, "the store took part \(number) and gave it no ETag")
        }
        // One that looks like an MD5 and is not the part's: the bytes were changed on the way, behind what checks them.
        if let md5 = ObjectReply(response).md5, md5 != part.digest.md5 {
            throw client.error(
                .badDigest, context, "the store has other bytes of part \(number) than were sent; it is sent again")
        }
        return SentPart(tag: tag, md5: part.digest.md5)
    }

    /// The ETag of an object in parts, where the store computes it as Amazon does: the MD5 of the parts' MD5s, and how many
    /// there are.
    static func expectedTag(of parts: [MD5Digest]) -> String {
        "\(ContentDigest(of: parts.flatMap(\.bytes)).md5)-\(parts.count)"
    }

    private func complete(
        _ upload: MultipartID, _ tags: [String], wanting wanted: PutFeatures
    ) async throws -> String? {
        let response = try await client.store(
            context, wanting: wanted, storageClass: attributes.storageClass, beforeUnconditional: {}
        ) { $0.complete(upload, tags: tags, features: $1) }
        guard response.status == 200 else { throw client.failure(response, context) }
        return ObjectReply.etag(try response.content(context) { try MultipartReply.completedTag($0) })
    }

    /// The parts that were taken went over the line, whatever became of the object: its last answer may be what was lost.
    private static func adding(_ error: any Error, sentBytes: Int64) -> any Error {
        guard var failure = error as? StoreError else { return error }
        failure.sentBytes += sentBytes
        return failure
    }
}

extension S3Client {
    private static let abortAttempts = 3

    /// A failure that may pass costs one more try here and not the whole file; what fails twice is for the caller to retry.
    func onceMore<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch let error as StoreError where error.isTransient {
            return try await work()
        }
    }

    /// Takes the parts of an upload back that has failed. All attempts together hold nobody up for longer than one may, and
    /// for a shorter time where the work was cancelled: whoever waits for its end may wait for that of the program. What is
    /// left then is noted, and taken back later (``S3Store/removeLeftovers()``).
    /// - Returns: the failure, which tells where they could not be taken back.
    func giveUp(_ upload: MultipartID, after error: any Error) async -> any Error {
        let end = ContinuousClock.now + (Task.isCancelled ? S3Requests.patienceAtEnd : S3Requests.abortPatience)
        for _ in 0..<Self.abortAttempts where ContinuousClock.now < end {
            if await abort(upload, by: end) { return error }
        }
        memory?.disown(upload)
        return (error as? StoreError)?.adding(
            "the parts that were sent (upload \(upload.rawValue.escapingControls)) could not be removed, "
                + "a later upload tries again") ?? error
    }

    /// - Parameter end: when the store has to have answered; `nil`: in the time that one request may take.
    /// - Returns: whether the parts of an upload are gone.
    func abort(_ upload: MultipartID, by end: ContinuousClock.Instant? = nil) async -> Bool {
        (try? await takeBack(upload, by: end)) ?? false
    }

    /// - Parameter end: as of ``abort(_:by:)``.
    /// - Returns: whether the store says that the parts are gone. Then the upload is forgotten, too.
    /// - Throws: ``StoreError`` when there is no reply; `CancellationError`.
    func takeBack(_ upload: MultipartID, by end: ContinuousClock.Instant? = nil) async throws -> Bool {
        let response = try await send(context("tidy", upload.key)) {
            $0.abort(upload, within: end.map { $0 - ContinuousClock.now } ?? S3Requests.abortPatience)
        }
        guard response.isDone || response.saysGone else { return false }
        await memory?.forget(upload)
        return true
    }
}

/// Reads a file part by part, ahead of the upload, for the digests that each part is signed with and that of the whole.
/// Blocks.
final class PartHasher: Sendable {
    private static let bufferSize = 1 << 20

    private let patches: FilePatches
    private let file: SourceFile
    private let whole = Lock(SHA256Hasher())

    init(
        _ path: FilePath, stamp: FileStamp, patches: FilePatches = .none, closedBy reads: SourceReads
    ) throws(TransportError) {
        self.patches = patches
        file = try SourceFile(path, stamp: stamp, closedBy: reads)
    }

    /// The next part. They have to be asked for in their order.
    func body(of range: Range<Int64>) throws -> HTTPBody {
        var hasher = ContentHasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 1)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try PooledWork.checkCancellation()
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = try file.read(at: offset, into: .init(rebasing: buffer[..<wanted]))
            patches.apply(to: .init(rebasing: buffer[..<count]), at: offset)
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            whole.withLock { $0.update(bytes) }
            offset += Int64(count)
        }
        return HTTPBody(file: file.path, stamp: file.stamp, patches: patches, range: range, digest: hasher.finalize())
    }

    /// Of all parts that were read.
    func finish() -> SHA256Digest {
        whole.withLock { $0.finalize() }
    }
}

/// How a large file is cut. S3 takes at most 10,000 parts, each of 5 MiB to 5 GiB, and in one piece no more than 5 GiB (S3
/// User Guide, "Amazon S3 multipart upload limits"); nor does it copy more in one request ("Copying, moving, and renaming
/// objects").
package struct PartSizes: Hashable, Sendable {
    private static let maximumParts: Int64 = 10_000

    /// Bytes of the smallest file that is sent in parts.
    package var threshold: Int64
    /// Bytes of a part, where 10,000 of them are enough.
    package var smallestPart: Int64
    /// Bytes of the largest object that is copied in one request.
    package var largestCopy: Int64

    /// - Parameter part: bytes of a part; a file of less goes in one piece.
    package init(part: Int64) {
        self.init(threshold: max(64 << 20, part), smallestPart: part)
    }

    package init(threshold: Int64 = 64 << 20, smallestPart: Int64 = 16 << 20, largestCopy: Int64 = 5 << 30) {
        self.threshold = threshold
        self.smallestPart = smallestPart
        self.largestCopy = largestCopy
    }

    /// All parts in their order: equal ones, and a last one that may be shorter.
    package func parts(of size: Int64) -> [Range<Int64>] {
        let needed = (size + Self.maximumParts - 1) / Self.maximumParts
        let part = max(smallestPart, needed)
        return stride(from: 0, to: size, by: Int64.Stride(part)).map { $0..<min($0 + part, size) }
    }
}
