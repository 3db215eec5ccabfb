package import FoundationEssentials
package import SyncCore

/// The `<Error>` of S3 (S3 API Reference, "REST error responses"). Every field may be missing. What a server says is
/// bounded here, cleaned and without secrets, so that whoever prints a field may.
package struct ErrorReply: Hashable, Sendable {
    package var code: String?
    package var message: String?
    package var requestID: String?
    /// In `PermanentRedirect` and `AuthorizationHeaderMalformed`: where the bucket is.
    package var region: String?
    package var endpoint: String?
    /// In `NotImplemented`: the header that is not known.
    package var header: String?
    /// In `InvalidArgument`: the header or query item.
    package var argument: String?

    /// An error within a reply.
    package init(code: String?, message: String?) {
        self.code = code.map { Redaction.quote($0, limit: Self.longestName) }
        self.message = message.map { Redaction.quote($0) }
    }

    /// Characters of a code, a header's name or a region; and of a host.
    private static let longestName = 80
    private static let longestHost = 255

    /// Headers fill in what the body does not say: the reply to a HEAD has none.
    package init(_ response: HTTPResponse) {
        let error = try? XMLElement(document: response.body, root: "Error")
        func name(_ text: String?) -> String? { text.map { Redaction.quote($0, limit: Self.longestName) } }
        code = name(error?["Code"])
        message = error?["Message"].map { Redaction.quote($0) }
        endpoint = error?["Endpoint"].map { Redaction.quote($0, limit: Self.longestHost) }
        header = name(error?["Header"])
        argument = name(error?["ArgumentName"])
        region = name(error?["Region"] ?? response.headers["x-amz-bucket-region"])
        requestID = name(error?["RequestId"] ?? response.headers["x-amz-request-id"])
    }
}

/// An upload in parts, by the name that the store gave it.
package struct MultipartID: Hashable, Sendable {
    package let key: ObjectKey
    package let rawValue: String
}

/// What the store says of uploads in parts.
package enum MultipartReply {
    /// `<InitiateMultipartUploadResult>`; rclone's server leaves the "Result" out.
    /// - Throws: ``InvalidReply``.
    package static func created(_ body: [UInt8], key: ObjectKey) throws(InvalidReply) -> MultipartID {
        let reply = try XMLElement(document: body, root: "InitiateMultipartUploadResult", or: "InitiateMultipartUpload")
        let id = try reply.required("UploadId")
        guard !id.isEmpty else { throw InvalidReply(reason: "it does not name the upload") }
        return MultipartID(key: key, rawValue: id)
    }

    /// `<CompleteMultipartUploadResult>`: only with it the object is there, whatever the status said before.
    /// - Returns: the object's ETag, as it is written.
    /// - Throws: ``InvalidReply``.
    package static func completedTag(_ body: [UInt8]) throws(InvalidReply) -> String {
        try XMLElement(document: body, root: "CompleteMultipartUploadResult").required("ETag")
    }

    /// `<ListMultipartUploadsResult>`: those that began before a moment.
    /// - Parameter prefix: the store's own, which the keys do not have.
    /// - Throws: ``InvalidReply``.
    package static func uploads(_ body: [UInt8], prefix: String, before: Date) throws(InvalidReply) -> [MultipartID] {
        let reply = try XMLElement(document: body, root: "ListMultipartUploadsResult")
        let isEncoded = reply["EncodingType"]?.lowercased() == "url"
        var uploads: [MultipartID] = []
        for upload in reply.all("Upload") {
            let (written, id) = (try upload.required("Key"), try upload.required("UploadId"))
            guard let begun = S3Date.iso8601(try upload.required("Initiated")), begun < before,
                let name = isEncoded ? written.percentDecoded(plusIsSpace: true) : written,
                let rest = name.below(prefix), let key = try? ObjectKey(rest)
            else { continue }
            uploads.append(MultipartID(key: key, rawValue: id))
        }
        return uploads
    }
}

/// `<DeleteResult>`: what DeleteObjects could not remove.
package struct DeleteReply: Hashable, Sendable {
    package struct Failure: Hashable, Sendable {
        /// With the store's own prefix.
        package let key: String
        package let error: ErrorReply
    }

    package let failures: [Failure]

    /// - Throws: ``InvalidReply``, also where it does not tell what failed.
    package init(_ body: [UInt8]) throws(InvalidReply) {
        let reply = try XMLElement(document: body, root: "DeleteResult")
        var failures: [Failure] = []
        for entry in reply.all("Error") {
            guard let key = entry["Key"] else { throw InvalidReply(reason: "an error in it names no key") }
            failures.append(Failure(key: key, error: ErrorReply(code: entry["Code"], message: entry["Message"])))
        }
        self.failures = failures
    }
}

/// What the headers of HeadObject, GetObject and PutObject say of an object.
package struct ObjectReply: Hashable, Sendable {
    package let status: Int
    package let headers: HTTPHeaders

    package init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers
    }

    /// Whether the body is what a GET asked for. rclone says 200 to a range, and sends the range.
    package func carries(_ range: Range<Int64>?) -> Bool {
        guard let range else { return status == 200 }
        let isPart = headers["Content-Range"]?.hasPrefix("bytes \(range.lowerBound)-") == true
        return isPart && (status == 206 || status == 200)
    }

    /// Whether it tells of an object. Every store says at least when it was changed, or which ETag it has; the page of a
    /// network that wants a login first, which is sent with 200 whatever was asked for, says neither.
    package var tellsOfObject: Bool {
        headers["ETag"] != nil || headers["Last-Modified"] != nil
            || headers.fields.contains { $0.name.lowercased().hasPrefix("x-amz-") }
    }

    /// `nil` when the reply does not tell the object's size.
    package func info(for key: ObjectKey) -> ObjectInfo? {
        guard let size else { return nil }
        return ObjectInfo(
            key: key, size: size, md5: md5, sha256: sha256, etag: etag,
            storageClass: headers["x-amz-storage-class"].map(StorageClass.init(rawValue:)) ?? .standard,
            restore: restore, isInArchiveTier: headers["x-amz-archive-status"] != nil,
            contentType: headers["Content-Type"], metadata: S3Metadata.values(in: headers),
            modified: headers["Last-Modified"].flatMap(S3Date.http))
    }

    /// Of the whole object, also when a part was sent; `nil` for a number that no object has.
    private var size: Int64? {
        let told: Int64? =
            if let range = headers["Content-Range"], let slash = range.lastIndex(of: "/") {
                Int64(range[range.index(after: slash)...])
            } else {
                headers["Content-Length"].flatMap { Int64($0) }
            }
        return told.flatMap { ObjectInfo.sizes.contains($0) ? $0 : nil }
    }

    /// The ETag, where it is an MD5: one part, and not encrypted with a key of KMS or the customer (S3 API, `Object`,
    /// `ETag`).
    package var md5: MD5Digest? {
        let encryption = headers["x-amz-server-side-encryption"] ?? "AES256"
        guard encryption == "AES256", headers["x-amz-server-side-encryption-customer-algorithm"] == nil else {
            return nil
        }
        return etag.flatMap { MD5Digest(hex: $0) }
    }

    /// Without quotes. A weak one names no bytes (RFC 9110, 8.8.1).
    package var etag: String? {
        headers["ETag"].flatMap { Self.etag($0) }
    }

    package static func etag(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { etag(utf8: $0) }
    }

    /// The same of a text in UTF-8, where it stands.
    static func etag(utf8 text: UnsafeBufferPointer<UInt8>) -> String? {
        withETag(utf8: text) { String(decoding: $0, as: UTF8.self) }
    }

    /// The same, as the bytes that are left.
    /// - Returns: `nil` where there is none.
    static func withETag<Result>(
        utf8 text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        let quote = UInt8(ascii: "\"")
        var (start, end) = (0, text.count)
        if start < end, text[start] == quote { start += 1 }
        if start < end, text[end - 1] == quote { end -= 1 }
        let bare = UnsafeBufferPointer(rebasing: text[start..<end])
        if bare.has(quote) {
            return bare.filter { $0 != quote }.withUnsafeBufferPointer { withETag(utf8: $0, body) }
        }
        let isWeak = bare.count > 1 && bare[0] == UInt8(ascii: "W") && bare[1] == UInt8(ascii: "/")
        return bare.isEmpty || isWeak ? nil : body(bare)
    }

    /// The SHA-256 that the store computed of the whole object. That of an object in parts is one of their digests, and is
    /// written otherwise: `{digest}-{parts}` (S3 User Guide, "Checking object integrity").
    package var sha256: SHA256Digest? {
        guard let digest = headers["x-amz-checksum-sha256"].flatMap({ Data(base64Encoded: $0) }) else { return nil }
        return SHA256Digest(bytes: Array(digest))
    }

    /// Whether the object cannot be read nor overwritten before it is restored. An INTELLIGENT_TIERING object tells it in
    /// a header of its own.
    package var isArchived: Bool {
        if headers["x-amz-archive-status"] != nil { return true }
        let isArchive = headers["x-amz-storage-class"].map(StorageClass.init(rawValue:))?.isArchive == true
        return !restore.allowsReading(ofArchived: isArchive)
    }

    /// `ongoing-request="false", expiry-date="Fri, 21 Dec 2012 00:00:00 GMT"`, in any order and spacing.
    package var restore: RestoreState {
        guard let text = headers["x-amz-restore"] else { return .none }
        if text.contains("ongoing-request=\"true\"") { return .inProgress }
        let date = text.firstRange(of: "expiry-date=\"").map { text[$0.upperBound...].prefix { $0 != "\"" } }
        return .restored(until: date.flatMap { S3Date.http(String($0)) })
    }
}

/// Dates as S3 writes them.
package enum S3Date {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// RFC 9110, 5.6.7, in its fixed form: `Fri, 21 Dec 2012 00:00:00 GMT`.
    package static func http(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        return iso8601("\(words[3])-\((month + 1).padded(to: 2))-\(words[1])T\(words[4])Z")
    }

    /// `2012-12-21T00:00:00.000Z`, with or without the fraction.
    package static func iso8601(_ text: String) -> Date? {
        CaptureTime(text)?.instant
    }

    /// As ``iso8601(_:)``, of a text in UTF-8.
    /// - Parameter last: what the date before was read with.
    static func iso8601(utf8 text: UnsafeBufferPointer<UInt8>, after last: inout CaptureTime.WrittenDay) -> Date? {
        CaptureTime(utf8: text, after: &last)?.instant
    }
}
