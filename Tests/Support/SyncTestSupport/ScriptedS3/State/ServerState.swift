import FoundationEssentials

/// All that changes while the server runs; guarded by the server's mutex.
struct ServerState: Sendable {
    var buckets: [String: StoredBucket] = [:]
    var records: [RequestRecord] = []
    var connections = 0
    var script = FaultScript()
    var abilities = StoreAbilities()
    var credentials: [ServerCredentials]
    /// Added to the clock that the server was given.
    var clockOffset: TimeInterval = 0
    /// Whether a wrong region is answered with 301 rather than 400.
    var redirectsWrongRegion = false

    /// Notes a request and decides its fault.
    mutating func begin(_ request: S3Request, connection: Int) -> RequestRecord {
        let number = records.count + 1
        var record = RequestRecord(number: number, connection: connection, request)
        record.fault = script.take(number: number, request.operation, request.key)
        records.append(record)
        return record
    }

    mutating func note(_ record: RequestRecord) {
        records[record.number - 1] = record
    }
}
