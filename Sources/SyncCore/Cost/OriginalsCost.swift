/// What it costs to keep originals beside the copies, in US dollars.
package struct OriginalsCost: Hashable, Sendable {
    /// Of the bytes of JPEG files, what JPEG XL leaves on average (docs/performance.md).
    package static let recompressed = 0.78

    /// Bytes that are stored for them.
    package var bytes: Int64
    /// To put them into the store, and move them to their class.
    package var onceUSD: Double
    package var monthlyUSD: Double

    /// - Parameters:
    ///   - bytes: of the files.
    ///   - storageClass: where they come to lie.
    /// - Returns: `nil` when the class has no price.
    package init?(
        objects: Int, bytes: Int64, policy: OriginalsPolicy, storageClass: StorageClass, prices: PriceTable
    ) {
        guard let own = prices.classes[storageClass], let standard = prices.classes[.standard] else { return nil }
        self.bytes = policy == .jxl ? Int64(Double(bytes) * Self.recompressed) : bytes
        let moves = storageClass == .standard ? 0 : own.putPer1000
        onceUSD = Double(objects) / 1_000 * (standard.putPer1000 + moves)
        monthlyUSD = StorageCost.monthly(own, objects, self.bytes, prices)
    }
}
