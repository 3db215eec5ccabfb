import FoundationEssentials

extension Date {
    /// As the ledger keeps a time: milliseconds since 1970, rounded.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
