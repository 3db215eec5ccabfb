import SyncConfig
import SyncCore
import Testing

@Suite struct PriceTests {
    /// A whole file with one class; `lines` are put in its place.
    private static func text(_ classes: String) -> [UInt8] {
        Array(
            """
            region: eu-central-1
            as_of: 2026-07
            currency: USD
            source: somebody
            egress: {per_gb: 0.09}
            classes:
              STANDARD: {per_gb_month: 0.0245, put_per_1000: 0.0054}
            \(classes)
            """.utf8)
    }

    private static func problems(_ bytes: [UInt8]) -> [String] {
        do {
            _ = try PriceFile.load(bytes)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `the prices in the program are those of the list, with region, date and source`() throws {
        let table = try PriceFile.table()
        #expect(table.region == "us-east-1" && table.asOf == "2026-07" && table.source.contains("price list"))
        #expect(table.egressPerGB == 0.09 && table.freeEgressGB == 100)
        #expect(
            table.classes[.deepArchive]
                == ClassPrices(
                    perGBMonth: 0.00099, putPer1000: 0.05, minimumDays: 180, overheadBytes: 32_768,
                    overheadStandardBytes: 8_192,
                    retrieval: [
                        .bulk: RetrievalPrices(perGB: 0.0025, per1000Requests: 0.025),
                        .standard: RetrievalPrices(perGB: 0.02, per1000Requests: 0.1),
                    ]))
        #expect(
            table.classes[.glacier]?.retrieval == [
                .bulk: RetrievalPrices(perGB: 0, per1000Requests: 0),
                .standard: RetrievalPrices(perGB: 0.01, per1000Requests: 0.05),
                .expedited: RetrievalPrices(perGB: 0.03, per1000Requests: 10),
            ])
        #expect(table.classes[.standard] == ClassPrices(perGBMonth: 0.023, putPer1000: 0.005))
        #expect(table.classes[.glacierInstantRetrieval]?.minimumBytes == 131_072)
        #expect(table.classes[.standardIA]?.minimumDays == 30)
    }

    @Test func `a file of one's own may know other classes, and leave out what is nothing`() throws {
        let table = try PriceFile.load(Self.text("  CLOUDTIER: {per_gb_month: 0.001, put_per_1000: 0}"))
        #expect(table.region == "eu-central-1" && table.freeEgressGB == 0)
        #expect(table.classes.count == 2)
        #expect(table.storage(StorageClass(rawValue: "CLOUDTIER")) == 0.001)
    }

    @Test(arguments: [
        (
            "  DEEP_ARCHIVE:\n    put_per_1000: 0.05\n    retrieval:\n      bulk: {per_gb: 1, per_1000_requests: 1}",
            [
                "line 8: classes.DEEP_ARCHIVE.per_gb_month: is missing; it takes a number from 0 to 1000000",
                "line 10: classes.DEEP_ARCHIVE.retrieval.standard: is missing; it takes a section",
            ]
        ),
        (
            "  GLACIER: {per_gb_month: 1, put_per_1000: 1}",
            ["line 8: classes.GLACIER.retrieval: is missing; it takes a section"]
        ),
        (
            "  X: {per_gb_month: \"1\", put_per_1000: -1, minimum_days: 1.5}",
            [
                "line 8: classes.X.minimum_days: found 1.5; accepted: a whole number from 0 to 3650",
                "line 8: classes.X.per_gb_month: found \"1\"; accepted: a number from 0 to 1000000 (a number stands "
                    + "without quotes)",
                "line 8: classes.X.put_per_1000: found -1; accepted: a number from 0 to 1000000",
            ]
        ),
        (
            "  X: {per_gb_mounth: 1, per_gb_month: 1, put_per_1000: 1}",
            ["line 8: classes.X.per_gb_mounth: there is no such key; did you mean \"per_gb_month\"?"]
        ),
        (
            "  X: {per_gb_month: 1, put_per_1000: 1, retrieval: {slow: {}}}",
            ["line 8: classes.X.retrieval.slow: there is no such key; accepted: bulk, standard, expedited"]
        ),
        ("  X: 0.02", ["line 8: classes.X: found 0.02; accepted: a section with the keys per_gb_month, put_per_1000"]),
    ])
    func `what is wrong with a class is told with its place`(classes: String, expected: [String]) {
        let found = Self.problems(Self.text(classes))
        #expect(found.count >= expected.count)
        for (line, start) in zip(found, expected) { #expect(line.hasPrefix(start)) }
    }

    @Test func `a tier that a class does not have cannot be priced`() {
        let tiers = ["bulk", "standard", "expedited"].map { "\($0): {per_gb: 1, per_1000_requests: 1}" }
        let classes =
            "  DEEP_ARCHIVE: {per_gb_month: 1, put_per_1000: 1, retrieval: {\(tiers.joined(separator: ", "))}}"
        #expect(
            Self.problems(Self.text(classes)) == [
                "line 8: classes.DEEP_ARCHIVE.retrieval.expedited: there is no such key; accepted: bulk, standard"
            ])
    }

    @Test func `everything that is missing is told at once`() {
        let found = Self.problems(
            Array("currency: EUR\nclasses:\n  GLACIER_IR: {per_gb_month: 1, put_per_1000: 1}\n".utf8))
        #expect(
            found.map { $0.prefix { $0 != ";" } } == [
                "as_of: is missing", "egress: is missing", "region: is missing", "source: is missing",
                "line 1: currency: found EUR", "line 2: classes.STANDARD: is missing",
            ])
    }

    @Test(arguments: [[], Array("- 1".utf8), [0xFF], Array("a: [".utf8)])
    func `what is no price file at all is refused`(bytes: [UInt8]) {
        #expect(!Self.problems(bytes).isEmpty)
    }
}
