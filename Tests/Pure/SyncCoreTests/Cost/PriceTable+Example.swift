import SyncCore

extension PriceTable {
    /// The list prices that the hand calculations of these suites are made with.
    static let example = PriceTable(
        region: "us-east-1", asOf: "2026-07", source: "test",
        classes: [
            .standard: ClassPrices(perGBMonth: 0.023, putPer1000: 0.005),
            .glacierInstantRetrieval: ClassPrices(
                perGBMonth: 0.004, putPer1000: 0.02, minimumDays: 90, minimumBytes: 131_072),
            .glacier: ClassPrices(
                perGBMonth: 0.0036, putPer1000: 0.03, minimumDays: 90, overheadBytes: 32_768,
                overheadStandardBytes: 8_192,
                retrieval: [
                    .bulk: RetrievalPrices(perGB: 0, per1000Requests: 0),
                    .standard: RetrievalPrices(perGB: 0.01, per1000Requests: 0.05),
                    .expedited: RetrievalPrices(perGB: 0.03, per1000Requests: 10),
                ]),
            .deepArchive: ClassPrices(
                perGBMonth: 0.00099, putPer1000: 0.05, minimumDays: 180, overheadBytes: 32_768,
                overheadStandardBytes: 8_192,
                retrieval: [
                    .bulk: RetrievalPrices(perGB: 0.0025, per1000Requests: 0.025),
                    .standard: RetrievalPrices(perGB: 0.02, per1000Requests: 0.1),
                ]),
        ],
        egressPerGB: 0.09, freeEgressGB: 100)
}

/// Whether two amounts of US dollars are the same to a millionth of a cent.
func isSame(_ left: Double?, _ right: Double?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return abs(left - right) < 1e-8
}
