package import FoundationEssentials
package import SyncCore

/// An upload in parts, by the name that the store gave it.
package struct MultipartID: Hashable, Sendable {
    package let key: ObjectKey
    package let rawValue: String

    package init(key: ObjectKey, rawValue: String) {
        self.key = key
        self.rawValue = rawValue
    }
}

/// What the store says of uploads in parts.
package enum MultipartReply {
    /// `<InitiateMultipartUploadResult>`; rclone's server leaves the "Result" out.
    /// - Throws: `XMLReply.Invalid`.
    package static func created(_ body: [UInt8], key: ObjectKey) throws(XMLReply.Invalid) -> MultipartID {
        let reply = try XMLReply.decode(
            Created.self, root: "InitiateMultipartUploadResult", or: "InitiateMultipartUpload", from: body)
        guard !reply.uploadID.isEmpty else { throw XMLReply.Invalid(reason: "it does not name the upload") }
        return MultipartID(key: key, rawValue: reply.uploadID)
    }

    /// `<CompleteMultipartUploadResult>`: only with it the object is there, whatever the status said before.
    /// - Throws: `XMLReply.Invalid`.
    package static func completed(_ body: [UInt8]) throws(XMLReply.Invalid) {
        _ = try completedTag(body)
    }

    /// As ``completed(_:)``.
    /// - Returns: the object's ETag, as it is written.
    package static func completedTag(_ body: [UInt8]) throws(XMLReply.Invalid) -> String {
        try XMLReply.decode(Completed.self, root: "CompleteMultipartUploadResult", from: body).eTag
    }

    /// `<ListMultipartUploadsResult>`: those that began before a moment.
    /// - Parameter prefix: the store's own, which the keys do not have.
    /// - Throws: `XMLReply.Invalid`.
    package static func uploads(
        _ body: [UInt8], prefix: String, before: Date
    ) throws(XMLReply.Invalid) -> [MultipartID] {
        let reply = try XMLReply.decode(Listed.self, root: "ListMultipartUploadsResult", from: body)
        let isEncoded = reply.encodingType?.lowercased() == "url"
        return reply.uploads.compactMap { upload in
            guard let begun = S3Date.iso8601(upload.initiated), begun < before,
                let name = isEncoded ? upload.key.percentDecoded(plusIsSpace: true) : upload.key,
                let rest = name.below(prefix), let key = try? ObjectKey(rest)
            else { return nil }
            return MultipartID(key: key, rawValue: upload.uploadID)
        }
    }

    private struct Created: Decodable {
        var uploadID: String

        enum CodingKeys: String, CodingKey {
            case uploadID = "UploadId"
        }
    }

    private struct Completed: Decodable {
        var eTag: String

        enum CodingKeys: String, CodingKey {
            case eTag = "ETag"
        }
    }

    private struct Listed: Decodable {
        var uploads: [Upload]
        var encodingType: String?

        enum CodingKeys: String, CodingKey {
            case uploads = "Upload"
            case encodingType = "EncodingType"
        }
    }

    private struct Upload: Decodable {
        var key: String
        var uploadID: String
        var initiated: String

        enum CodingKeys: String, CodingKey {
            case key = "Key"
            case uploadID = "UploadId"
            case initiated = "Initiated"
        }
    }
}
