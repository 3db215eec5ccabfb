import FoundationEssentials
import SyncCore

/// One request whose signature and digests hold, about to be carried out.
///
/// The operations are extensions, one file each; they change a bucket and answer.
struct S3Call: Sendable {
    let request: S3Request
    let body: RequestBody
    let now: Date
    let requestID: String
    let abilities: StoreAbilities
    let restoreTime: @Sendable (StorageClass, RestoreRecord.Tier) -> Duration

    /// The key of an operation on an object.
    var key: ObjectName { request.key ?? ObjectName([]) }

    func header(_ name: String) -> String? { request.head[name] }

    func carryOut(in bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        switch request.operation {
        case .putObject: try putObject(&bucket)
        case .getObject, .headObject: try getObject(&bucket)
        case .deleteObject: try deleteObject(&bucket)
        case .deleteObjects: try deleteObjects(&bucket)
        case .copyObject: try copyObject(&bucket)
        case .restoreObject: try restoreObject(&bucket)
        case .createMultipartUpload: try createMultipartUpload(&bucket)
        case .uploadPart: try uploadPart(&bucket)
        case .uploadPartCopy: try uploadPartCopy(&bucket)
        case .completeMultipartUpload: try completeMultipartUpload(&bucket)
        case .abortMultipartUpload: try abortMultipartUpload(&bucket)
        case .listMultipartUploads: listMultipartUploads(bucket)
        case .listParts: try listParts(bucket)
        case .headBucket: ServerReply(status: 200, headers: [("x-amz-bucket-region", bucket.region)])
        case .getBucketLocation: location(of: bucket)
        case .listObjectsV2: try listObjects(&bucket)
        case .getBucketLifecycleConfiguration: try getLifecycle(bucket)
        case .putBucketLifecycleConfiguration: try putLifecycle(&bucket)
        case .deleteBucketLifecycle: deleteLifecycle(&bucket)
        case .createBucket:
            throw S3Failure(
                409, "BucketAlreadyOwnedByYou",
                "Your previous request to create the named bucket succeeded and you already own it.")
        case .listBuckets, .unknown:
            throw S3Failure(501, "NotImplemented", "The scripted server does not play \(request.head.target).")
        }
    }

    /// Empty for us-east-1, as at Amazon.
    private func location(of bucket: StoredBucket) -> ServerReply {
        ServerReply(XMLElement("LocationConstraint", bucket.region == "us-east-1" ? "" : bucket.region))
    }
}
