import SyncCore

extension LifecycleReport.Floor {
    /// - Parameter prices: those that `floor` was made with; `nil` where none count.
    init(_ floor: ArchiveFloor, prices: PriceTable?) {
        let months = ArchiveFloor.months
        let configured = "tiers.minimum_archive_bytes is \(Quantities.bytes(floor.configured))"
        let by = prices.map { "by Amazon's list prices (\($0.region), \($0.asOf))" } ?? ""
        var breakEven: Int64?
        let explanation: String
        switch floor.breakEven {
        case .from(let size):
            breakEven = size
            explanation =
                "\(configured), and \(by) archiving pays within \(months) months from \(Quantities.bytes(size)) on; the "
                + "larger one counts"
        case .never: explanation = "\(configured), but \(by) archiving pays for no object within \(months) months"
        case .unknown:
            let why = prices == nil ? "this store does not bill as Amazon does" : "the price table lacks a class"
            explanation = "\(configured); no price counts, because \(why)"
        }
        self.init(
            bytes: floor.bytes, configuredBytes: floor.configured, breakEvenBytes: breakEven, months: months,
            explanation: explanation)
    }

    /// `Archived are photos of 128 KiB and more: …`
    var sentence: String {
        let head = bytes.map { "Archived are photos of \(Quantities.bytes($0)) and more" } ?? "Nothing is archived"
        return "\(head): \(explanation)."
    }
}
