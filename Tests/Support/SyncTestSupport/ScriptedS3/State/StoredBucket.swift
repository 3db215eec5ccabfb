import FoundationEssentials

/// A bucket: its objects in the order of listings, its uploads in parts, its rules.
struct StoredBucket: Sendable {
    let name: String
    let region: String
    private(set) var objects: [ObjectName: StoredObject] = [:]
    /// All names in order; `nil` after a change, until somebody lists.
    private var ordered: [ObjectName]?
    var uploads: [String: MultipartUpload] = [:]
    /// What was answered to the completions that are done: they may be repeated.
    var completed: [String: CompletedUpload] = [:]
    /// The document of PutBucketLifecycleConfiguration, as it was sent.
    var lifecycle: [UInt8]?
    var lifecycleMinimumSize: String?
    /// Keys whose deletion is refused.
    var protected: Set<ObjectName> = []

    init(name: String, region: String) {
        self.name = name
        self.region = region
    }

    func object(_ key: ObjectName, at now: Date) throws(S3Failure) -> StoredObject {
        guard var object = objects[key] else { throw .noSuchKey(key) }
        object.settle(at: now)
        return object
    }

    mutating func store(_ object: StoredObject, at key: ObjectName) {
        var object = object
        if let old = objects[key] {
            object.generation = old.generation + 1
        } else {
            ordered = nil
        }
        objects[key] = object
    }

    /// Changes an object where it stands.
    mutating func change(_ key: ObjectName, _ change: (inout StoredObject) -> Void) {
        guard var object = objects[key] else { return }
        change(&object)
        objects[key] = object
    }

    mutating func delete(_ key: ObjectName) throws(S3Failure) {
        guard !protected.contains(key) else { throw S3Failure(403, "AccessDenied", "Access Denied") }
        if objects.removeValue(forKey: key) != nil { ordered = nil }
    }

    /// The names that begin with `prefix` and come after `start`.
    mutating func names(prefix: [UInt8], after start: ObjectName?) -> ArraySlice<ObjectName> {
        let names = ordered ?? objects.keys.sorted()
        ordered = names
        let first = max(ObjectName(prefix), start ?? ObjectName([]))
        var low = 0
        var high = names.count
        while low < high {
            let middle = (low + high) / 2
            if names[middle] < first { low = middle + 1 } else { high = middle }
        }
        if let start, low < names.count, names[low] == start { low += 1 }
        let end = names[low...].firstIndex { !$0.hasPrefix(prefix) } ?? names.count
        return names[low..<end]
    }
}
