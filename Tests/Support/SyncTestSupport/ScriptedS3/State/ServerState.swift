import FoundationEssentials

/// All that changes while the server runs; guarded by the server's mutex.
struct ServerState: Sendable {
    var buckets: [String: StoredBucket] = [:]
    var records: [RequestRecord] = []
    var arrivals = 0
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
        arrivals += 1
        var record = RequestRecord(number: number, arrival: arrivals, connection: connection, request)
        record.fault = script.take(number: number, request.operation, request.key)
        records.append(record)
        return record
    }

    /// Notes how far a request has come; nothing, when it was forgotten meanwhile.
    mutating func note(_ record: RequestRecord) {
        let index = record.number - 1
        guard records.indices.contains(index), records[index].arrival == record.arrival else { return }
        records[index] = record
    }
}
