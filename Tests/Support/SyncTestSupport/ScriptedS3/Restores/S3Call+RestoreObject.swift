import FoundationEssentials
import SyncCore

extension S3Call {
    /// 202 for a new job, 200 where only the expiry changes.
    ///
    /// Source: Amazon S3 API Reference, "RestoreObject"; S3 User Guide, "Restoring an archived object".
    func restoreObject(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        guard abilities.restores != .notImplemented else {
            throw S3Failure(501, "NotImplemented", "This store does not restore objects.")
        }
        let asked = try RestoreRequestBody(body.bytes, abilities.restores)
        let object = try bucket.object(key, at: now)
        try checkClass(object, asked)
        if let running = object.restore, running.isOngoing(at: now) {
            let faster = try upgrade(of: running, to: asked, object)
            bucket.change(key) { $0.restore = faster }
            return ServerReply(status: 202)
        }
        if var done = object.restore, let days = asked.days {
            done.days = days
            done.expiry = RestoreRecord.expiry(days: days, from: now)
            bucket.change(key) { $0.restore = done }
            return ServerReply(status: 200)
        }
        let record = RestoreRecord(
            tier: asked.tier, days: asked.days, completes: completion(object, asked.tier),
            expiry: asked.days.map { RestoreRecord.expiry(days: $0, from: now) })
        bucket.change(key) { $0.restore = record }
        return ServerReply(status: 202)
    }

    private func checkClass(_ object: StoredObject, _ asked: RestoreRequestBody) throws(S3Failure) {
        if object.storageClass == .intelligentTiering {
            guard object.accessTier != nil else {
                throw S3Failure(
                    403, "ObjectAlreadyInActiveTierError",
                    "This object is not archived and is already in an active tier.")
            }
            guard asked.days == nil else {
                throw S3Failure(
                    400, "InvalidArgument",
                    "INTELLIGENT_TIERING objects are not subject to restore expiry. Do not specify Days when restoring "
                        + "this object")
            }
        } else {
            guard object.storageClass.isArchive else {
                throw S3Failure(
                    403, "InvalidObjectState", "Restore is not allowed for the object's current storage class",
                    details: [("StorageClass", object.storageClass.rawValue)])
            }
            guard asked.days != nil else { throw .malformedXML }
        }
        let isDeep = object.storageClass == .deepArchive || object.accessTier == .deepArchive
        if isDeep, asked.tier == .expedited {
            // Amazon's words are known, its status is not: 400 is our guess.
            throw S3Failure(400, "InvalidArgument", "Retrieval option is not supported by this storage class")
        }
    }

    /// A running job takes a faster tier and the same days, and nothing else.
    private func upgrade(
        of running: RestoreRecord, to asked: RestoreRequestBody, _ object: StoredObject
    ) throws(S3Failure) -> RestoreRecord {
        guard asked.tier > running.tier, asked.days == running.days else {
            throw S3Failure(
                409, "RestoreAlreadyInProgress", "Object restore is already in progress")
        }
        var faster = running
        faster.tier = asked.tier
        faster.completes = min(running.completes, completion(object, asked.tier))
        return faster
    }

    private func completion(_ object: StoredObject, _ tier: RestoreRecord.Tier) -> Date {
        let storageClass = object.accessTier.map { $0 == .archive ? .glacier : .deepArchive } ?? object.storageClass
        let seconds = restoreTime(storageClass, tier) / .seconds(1)
        return now.addingTimeInterval(seconds)
    }
}
