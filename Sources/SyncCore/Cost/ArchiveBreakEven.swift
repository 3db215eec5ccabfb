/// From which size on it pays to move an object from STANDARD to another class.
package enum ArchiveBreakEven: Hashable, Sendable {
    /// Objects of so many bytes and more.
    case from(Int64)
    /// At no size within that time.
    case never
    /// The table has no price for one of the two classes.
    case unknown

    /// Weighs the one move and the overheads of an archived object against what a month saves. Restores are not
    /// counted.
    /// - Parameters:
    ///   - months: the time within which it has to pay. An object that goes earlier than the class's minimum of days is
    ///     billed for all of them.
    package init(of storageClass: StorageClass, months: Int, prices: PriceTable) {
        guard let archive = prices.classes[storageClass], let standard = prices.storage(.standard) else {
            self = .unknown
            return
        }
        let billedMonths = max(Double(months), Double(archive.minimumDays) / PriceTable.daysInMonth)
        // Dollars: for a byte over the whole time, and for an object whatever its size.
        let byteInStandard = standard * Double(months) / PriceTable.gigabyte
        let byteInArchive = archive.perGBMonth * billedMonths / PriceTable.gigabyte
        let object =
            archive.putPer1000 / 1_000 + Double(archive.overheadBytes) * byteInArchive
            + Double(archive.overheadStandardBytes) * standard * billedMonths / PriceTable.gigabyte

        // Below the smallest billable size the archive's part is fixed.
        let minimum = Double(archive.minimumBytes)
        let small = (object + minimum * byteInArchive) / byteInStandard
        if byteInStandard > 0, small <= minimum {
            self = .from(Int64(small.rounded(.up)))
        } else if byteInStandard > byteInArchive {
            let size = (object / (byteInStandard - byteInArchive)).rounded(.up)
            self = size < Double(Int64.max) ? .from(Int64(size)) : .never
        } else {
            self = .never
        }
    }
}
