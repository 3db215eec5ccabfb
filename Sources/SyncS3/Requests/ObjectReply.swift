package import FoundationEssentials
package import SyncCore

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

    /// Of the whole object, also when a part was sent.
    private var size: Int64? {
        if let range = headers["Content-Range"], let slash = range.lastIndex(of: "/") {
            return Int64(range[range.index(after: slash)...])
        }
        return headers["Content-Length"].flatMap { Int64($0) }
    }

    /// The ETag, where it is an MD5: one part, and not encrypted with a key of KMS or the customer (S3 API, `Object`,
    /// `ETag`).
    package var md5: MD5Digest? {
        let encryption = headers["x-amz-server-side-encryption"] ?? "AES256"
        guard encryption == "AES256", headers["x-amz-server-side-encryption-customer-algorithm"] == nil else {
            return nil
        }
        return headers["ETag"].flatMap(Self.md5(eTag:))
    }

    /// Without quotes. A weak one names no bytes (RFC 9110, 8.8.1).
    package var etag: String? {
        headers["ETag"].flatMap(Self.etag)
    }

    package static func etag(_ text: String) -> String? {
        let bare = text.filter { $0 != "\"" }
        return bare.isEmpty || bare.hasPrefix("W/") ? nil : bare
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
        guard headers["x-amz-storage-class"].map(StorageClass.init(rawValue:))?.isArchive == true else { return false }
        if case .restored = restore { return false }
        return true
    }

    package static func md5(eTag: String) -> MD5Digest? {
        MD5Digest(hex: eTag.filter { $0 != "\"" })
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
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return iso8601("\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }

    /// `2012-12-21T00:00:00.000Z`, with or without the fraction. A listing has a thousand of them: Foundation's parser would
    /// cost more than all the rest of the page.
    package static func iso8601(_ text: String) -> Date? {
        CaptureTime(text)?.instant
    }
}
