package import FoundationEssentials

/// What strangers may put by an ``UploadForm``.
package struct UploadRules: Hashable, Sendable {
    /// Of one object.
    package var mostBytes: Int64
    /// What the content type begins with, such as `image/`.
    package var contentType: String
}

/// Lets whoever has it put one object under each of some keys, by a POST of `multipart/form-data` (Amazon S3 API Reference,
/// "POST Object"), and ask whether one is there. It is a secret while it lasts.
package struct UploadForm: Hashable, Sendable {
    package typealias Field = WebRequest.Field

    /// A text that goes around the last segment of a key.
    package struct Frame: Hashable, Sendable {
        package var before: String
        package var after: String

        package init(_ before: String, _ after: String) {
            (self.before, self.after) = (before, after)
        }
    }

    /// One key.
    package struct Slot: Hashable, Sendable {
        /// Its last segment.
        package var name: String
        /// For the field `x-amz-signature`: of the policy with this key.
        package var signature: String
        /// For the parameter `X-Amz-Signature` of a HEAD.
        package var lookSignature: String

        package init(name: String, signature: String, lookSignature: String) {
            self.name = name
            self.signature = signature
            self.lookSignature = lookSignature
        }
    }

    /// Where the form goes.
    package var url: String
    /// What stands before the last segment of each key, in the field `key`.
    package var keyPrefix: String
    /// What every form has, besides `key`, `policy`, `x-amz-signature`, `Content-Type` and, last, `file`.
    package var fields: [Field]
    /// JSON, in ASCII; with the last segment, and in base64, it is the field `policy`.
    package var policy: Frame
    /// Where a HEAD asks for an object: before and behind the last segment of its key, up to the signature.
    package var look: Frame
    /// What follows the signature.
    package var lookEnd: String
    package var slots: [Slot]
    /// As that of a ``StoreLink``.
    package var endsAt: Date

    package init(
        url: String, keyPrefix: String, fields: [Field], policy: Frame, look: Frame, lookEnd: String, slots: [Slot],
        endsAt: Date
    ) {
        self.url = url
        self.keyPrefix = keyPrefix
        self.fields = fields
        self.policy = policy
        self.look = look
        self.lookEnd = lookEnd
        self.slots = slots
        self.endsAt = endsAt
    }
}
