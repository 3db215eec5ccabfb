import SyncCore
import SyncSystem

/// From a request to its reply. Called by the threads of the connections.
extension ScriptedS3Server {
    /// What the head of a request decides: whether it may be carried out, and how its body is covered.
    typealias Permission = Result<SignedRequest, S3Failure>

    static func requestID(_ number: Int) -> String {
        "SCRIPTED" + number.padded(to: 8)
    }

    var commonHeaders: [(name: String, value: String)] {
        let count = state.withLock { $0.records.count }
        return [
            ("x-amz-request-id", Self.requestID(count)), ("x-amz-id-2", "c2NyaXB0ZWQ="),
            ("Date", ServerDate.http(now)), ("Server", "AmazonS3"),
        ]
    }

    func permission(for request: S3Request, length: Int?) -> Permission {
        let now = now
        let (credentials, redirects, bucket) = state.withLock { state in
            (state.credentials, state.redirectsWrongRegion, request.bucket.flatMap { state.buckets[$0]?.region })
        }
        let check = SignatureCheck(credentials: credentials, now: now)
        let region = bucket ?? region
        return Result { () throws(S3Failure) in
            let signed = try Self.checked(check, request, region: region, redirects: redirects)
            if request.head["transfer-encoding"] != nil { throw S3Failure.notImplemented(header: "Transfer-Encoding") }
            if length == nil, request.head.method == "PUT" {
                throw S3Failure(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
            }
            if request.bucket != nil, bucket == nil, request.operation != .createBucket {
                throw S3Failure(
                    404, "NoSuchBucket", "The specified bucket does not exist",
                    details: [("BucketName", request.bucket ?? "")])
            }
            return signed
        }
    }

    /// A HEAD of a bucket tells the region to whoever asks.
    private static func checked(
        _ check: SignatureCheck, _ request: S3Request, region: String, redirects: Bool
    ) throws(S3Failure) -> SignedRequest {
        do throws(S3Failure) {
            return try check.check(request, region: region, redirects: redirects)
        } catch {
            guard request.operation == .headBucket else { throw error }
            var error = error
            error.headers = [("x-amz-bucket-region", region)]
            throw error
        }
    }

    func reply(
        to request: S3Request, _ bytes: [UInt8], _ permission: Permission, _ record: RequestRecord
    ) -> ServerReply {
        let id = Self.requestID(record.number)
        do throws(S3Failure) {
            let signed = try permission.get()
            // The digests are made before the lock is taken.
            let abilities = state.withLock { $0.abilities }
            let body = try RequestBody(bytes, request, payload: signed.payload, abilities: abilities.checksumHeaders)
            let call = S3Call(
                request: request, body: record.fault == .corruptStored ? body.corrupted : body, now: now, requestID: id,
                abilities: abilities, restoreTime: restoreTime)
            var reply = try carryOut(call)
            reply.suffer(record.fault, requestID: id)
            return reply
        } catch {
            return error.reply(requestID: id)
        }
    }

    private func carryOut(_ call: S3Call) throws(S3Failure) -> ServerReply {
        try state.withLock { state throws(S3Failure) in
            guard let name = call.request.bucket else { return Self.bucketList(state) }
            guard var bucket = state.buckets.removeValue(forKey: name) else {
                state.buckets[name] = StoredBucket(name: name, region: region)
                return ServerReply(status: 200, headers: [("Location", "/\(name)")])
            }
            defer { state.buckets[name] = bucket }
            return try call.carryOut(in: &bucket)
        }
    }

    private static func bucketList(_ state: ServerState) -> ServerReply {
        let rows = state.buckets.keys.sorted().map { XMLElement("Bucket", [XMLElement("Name", $0)]) }
        return ServerReply(XMLElement("ListAllMyBucketsResult", [XMLElement("Buckets", rows)]))
    }
}
