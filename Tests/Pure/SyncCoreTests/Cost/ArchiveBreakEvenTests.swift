import SyncCore
import Testing

@Suite struct ArchiveBreakEvenTests {
    /// Found by bisection with another program.
    @Test(
        arguments: [
            (.deepArchive, 6, 416_570), (.deepArchive, 12, 213_303), (.deepArchive, 24, 111_669),
            (.deepArchive, 60, 50_688), (.glacier, 12, 154_162), (.glacier, 24, 84_978),
            (.glacierInstantRetrieval, 12, 100_603), (.glacierInstantRetrieval, 24, 61_699),
        ] as [(StorageClass, Int, Int64)])
    func `archiving pays from a size on, the smaller the longer one waits`(
        storageClass: StorageClass, months: Int, bytes: Int64
    ) {
        #expect(ArchiveBreakEven(of: storageClass, months: months, prices: .example) == .from(bytes))
    }

    /// What the object costs over the months, moved on the first day or left where it is.
    private func costs(size: Int64, months: Double) -> (moved: Double, left: Double) {
        let gigabyte = 1_073_741_824.0
        let standard = Double(size) / gigabyte * 0.023 * months
        let archived = (Double(size + 32_768) * 0.00099 + 8_192 * 0.023) / gigabyte * max(months, 6) + 0.05 / 1_000
        return (archived, standard)
    }

    @Test(arguments: [1, 3, 6, 24, 120])
    func `it is the smallest such size, to the byte`(months: Int) throws {
        guard case .from(let size) = ArchiveBreakEven(of: .deepArchive, months: months, prices: .example) else {
            Issue.record("no size pays")
            return
        }
        let at = costs(size: size, months: Double(months))
        let below = costs(size: size - 1, months: Double(months))
        #expect(at.moved <= at.left)
        #expect(below.moved > below.left)
    }

    @Test func `within no time, or into a class that is not cheaper, it never pays`() {
        #expect(ArchiveBreakEven(of: .deepArchive, months: 0, prices: .example) == .never)
        var prices = PriceTable.example
        prices.classes[.deepArchive]?.perGBMonth = 0.023
        #expect(ArchiveBreakEven(of: .deepArchive, months: 24, prices: prices) == .never)
    }

    @Test func `without a price nothing is known`() {
        #expect(
            ArchiveBreakEven(of: StorageClass(rawValue: "CLOUDTIER"), months: 24, prices: .example) == .unknown)
    }
}
