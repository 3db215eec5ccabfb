/// What a request asks for, by the names of the Amazon S3 API Reference.
package enum S3Operation: String, Sendable, CaseIterable {
    // Objects
    case putObject, getObject, headObject, deleteObject, deleteObjects, copyObject, restoreObject
    // Multipart
    case createMultipartUpload, uploadPart, completeMultipartUpload, abortMultipartUpload, listMultipartUploads
    case listParts, uploadPartCopy
    // Buckets
    case listBuckets, createBucket, headBucket, getBucketLocation, listObjectsV2
    case getBucketLifecycleConfiguration, putBucketLifecycleConfiguration, deleteBucketLifecycle
    /// Answered with 501.
    case unknown

    init(method: String, hasBucket: Bool, hasKey: Bool, query: Set<String>, isCopy: Bool) {
        // A presigned request carries its signature there, and a client its own remarks (`x-id`).
        let words = query.filter { !$0.lowercased().hasPrefix("x-") && !$0.hasPrefix("response-") }
        self =
            if hasKey {
                Self.onObject(method, words, isCopy)
            } else if hasBucket {
                Self.onBucket(method, words)
            } else {
                method == "GET" && words.isEmpty ? .listBuckets : .unknown
            }
    }

    private static func onObject(_ method: String, _ words: Set<String>, _ isCopy: Bool) -> S3Operation {
        switch (method, words) {
        case ("PUT", []): isCopy ? .copyObject : .putObject
        case ("GET", []): .getObject
        case ("HEAD", []): .headObject
        case ("DELETE", []): .deleteObject
        case ("POST", ["restore"]): .restoreObject
        case ("POST", ["uploads"]): .createMultipartUpload
        case ("PUT", ["partNumber", "uploadId"]): isCopy ? .uploadPartCopy : .uploadPart
        case ("POST", ["uploadId"]): .completeMultipartUpload
        case ("DELETE", ["uploadId"]): .abortMultipartUpload
        case ("GET", _) where words.contains("uploadId"): .listParts
        default: .unknown
        }
    }

    private static func onBucket(_ method: String, _ words: Set<String>) -> S3Operation {
        switch (method, words) {
        case ("PUT", []): .createBucket
        case ("HEAD", []): .headBucket
        case ("GET", ["location"]): .getBucketLocation
        case ("GET", ["lifecycle"]): .getBucketLifecycleConfiguration
        case ("PUT", ["lifecycle"]): .putBucketLifecycleConfiguration
        case ("DELETE", ["lifecycle"]): .deleteBucketLifecycle
        case ("POST", ["delete"]): .deleteObjects
        case ("GET", _) where words.contains("list-type"): .listObjectsV2
        case ("GET", _) where words.contains("uploads"): .listMultipartUploads
        default: .unknown
        }
    }
}
