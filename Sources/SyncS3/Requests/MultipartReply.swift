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
    /// - Throws: ``InvalidReply``.
    package static func created(_ body: [UInt8], key: ObjectKey) throws(InvalidReply) -> MultipartID {
        let reply = try XMLElement(
            document: body, root: "InitiateMultipartUploadResult", or: "InitiateMultipartUpload")
        let id = try reply.required("UploadId")
        guard !id.isEmpty else { throw InvalidReply(reason: "it does not name the upload") }
        return MultipartID(key: key, rawValue: id)
    }

    /// `<CompleteMultipartUploadResult>`: only with it the object is there, whatever the status said before.
    /// - Throws: ``InvalidReply``.
    package static func completed(_ body: [UInt8]) throws(InvalidReply) {
        _ = try completedTag(body)
    }

    /// As ``completed(_:)``.
    /// - Returns: the object's ETag, as it is written.
    package static func completedTag(_ body: [UInt8]) throws(InvalidReply) -> String {
        try XMLElement(document: body, root: "CompleteMultipartUploadResult").required("ETag")
    }

    /// `<ListMultipartUploadsResult>`: those that began before a moment.
    /// - Parameter prefix: the store's own, which the keys do not have.
    /// - Throws: ``InvalidReply``.
    package static func uploads(
        _ body: [UInt8], prefix: String, before: Date
    ) throws(InvalidReply) -> [MultipartID] {
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
