/// The smallest object that is archived, and why.
package struct ArchiveFloor: Hashable, Sendable {
    /// What archiving costs has to come back within so many months.
    package static let months = 24

    /// `tiers.minimum_archive_bytes`.
    package var configured: Int64
    /// By the prices; `unknown` also where there are none, because the store is not billed.
    package var breakEven: ArchiveBreakEven

    /// - Parameter prices: `nil` for a store that does not bill as Amazon does; then only `configured` counts.
    package init(configured: Int64, prices: PriceTable?) {
        self.configured = configured
        breakEven =
            prices.map { ArchiveBreakEven(of: TierPolicy.archive, months: Self.months, prices: $0) } ?? .unknown
    }

    /// Objects of so many bytes and more are archived; `nil` when it pays for none.
    package var bytes: Int64? {
        switch breakEven {
        case .from(let size): max(configured, size)
        case .never: nil
        case .unknown: configured
        }
    }
}
