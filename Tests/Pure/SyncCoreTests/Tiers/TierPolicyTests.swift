import FoundationEssentials
import SyncCore
import Testing

@Suite struct TierPolicyTests {
    private static func policy(
        user: String = "ana", mode: TierMode = .bucket, days: Int = 180, bytes: Int64 = 131_072,
        prices: PriceTable? = .example, originalDays: Int? = nil
    ) -> TierPolicy {
        TierPolicy(
            user: user, mode: mode, archiveAfterDays: days, originalsAfterDays: originalDays ?? days,
            floor: ArchiveFloor(configured: bytes, prices: prices), shareExpireDays: 30)
    }

    private static func lines(_ rules: [LifecycleRule]) -> [String] {
        rules.map { rule in
            guard case .own(let content) = rule.content else { return "\(rule.id) foreign" }
            return "\(rule.id) = \(content)"
        }
    }

    private static let housekeeping = [
        "sync-agent-shares = shares/: removed after 31 days, earlier versions removed after 1 day",
        "sync-agent-uploads = all keys: unfinished uploads taken back after 7 days",
    ]

    @Test func `a bucket has a rule for each kind of photo, one for shares and one for uploads`() {
        #expect(
            Self.lines(Self.policy().bucketRules) == [
                "sync-agent-photos-ana = users/ana/photos/: to DEEP_ARCHIVE after 180 days, of 128 KiB or more",
                "sync-agent-originals-ana = users/ana/originals/: to DEEP_ARCHIVE after 180 days, of 128 KiB or more",
                "sync-agent-gallery-ana = gallery-archive/ana/: to DEEP_ARCHIVE after 180 days, of 128 KiB or more",
            ] + Self.housekeeping)
    }

    @Test func `originals are archived at an age of their own`() {
        let originals = Self.lines(Self.policy(originalDays: 7).bucketRules).filter { $0.contains("originals") }
        #expect(
            originals == [
                "sync-agent-originals-ana = users/ana/originals/: to DEEP_ARCHIVE after 7 days, of 128 KiB or more"
            ])
    }

    @Test(arguments: [TierMode.agent, .off])
    func `where the agent or nobody archives, the bucket only tidies up`(mode: TierMode) {
        let policy = Self.policy(mode: mode)
        #expect(Self.lines(policy.bucketRules) == Self.housekeeping)
        #expect(policy.archiveRules.count == (mode == .agent ? 3 : 0))
        #expect(policy.ruleIDs == Self.policy().ruleIDs)
    }

    @Test(
        arguments: [(131_072, 131_072), (0, 111_669), (111_669, 111_669), (1 << 20, 1 << 20)] as [(Int64, Int64)])
    func `the smallest archived object is the larger of what is configured and what pays within two years`(
        configured: Int64, expected: Int64
    ) {
        let floor = ArchiveFloor(configured: configured, prices: .example)
        #expect(floor.breakEven == .from(111_669))
        #expect(floor.bytes == expected)
    }

    @Test func `a store that is not billed archives from the configured size on`() {
        let policy = Self.policy(bytes: 0, prices: nil)
        #expect(policy.floor.bytes == 0 && policy.floor.breakEven == .unknown)
        #expect(
            Self.lines(policy.archiveRules).first
                == "sync-agent-photos-ana = users/ana/photos/: to DEEP_ARCHIVE after 180 days")
    }

    @Test func `where archiving never pays, nothing is archived, and the reason is told`() throws {
        var prices = PriceTable.example
        prices.classes[.deepArchive]?.perGBMonth = 1
        let policy = Self.policy(prices: prices)
        #expect(policy.archiveRules.isEmpty && policy.bucketRules.count == 2)
        let key = try ObjectKey("users/ana/photos/a.dat")
        #expect(
            policy.expectedClass(of: key, size: 1 << 30, storedAt: .distantPast, now: .distantFuture)
                == .standard(.neverPays))
    }

    private static let stored = Date(timeIntervalSince1970: 1_000_000_000)
    private static let due = stored.addingTimeInterval(180 * 86_400)

    @Test(
        arguments: [
            ("users/ana/photos/a.dat", 131_072, 0, .archived(.deepArchive)),
            ("users/ana/originals/a.dat", 1 << 22, 0, .archived(.deepArchive)),
            ("gallery-archive/ana/oma/2026/01/e.jpg", 1 << 22, 86_400, .archived(.deepArchive)),
            ("users/ana/photos/a.dat", 131_072, -1, .standard(.tooYoung(until: due))),
            ("users/ana/photos/a.dat", 131_071, 0, .standard(.tooSmall(limit: 131_072))),
            ("users/ana/projects/p.jpg", 1 << 22, 0, .standard(.notCovered)),
            ("users/anabel/photos/a.dat", 1 << 22, 0, .standard(.notCovered)),
            ("shares/x/x_0.jpg", 1 << 22, 0, .standard(.notCovered)),
        ] as [(String, Int64, Double, ExpectedClass)])
    func `an object is expected in the archive once its size and age are right, else the reason is known`(
        key: String, size: Int64, secondsPastDue: Double, expected: ExpectedClass
    ) throws {
        let found = Self.policy().expectedClass(
            of: try ObjectKey(key), size: size, storedAt: Self.stored,
            now: Self.due.addingTimeInterval(secondsPastDue))
        #expect(found == expected)
    }

    @Test(arguments: [111_668, 111_669, 131_071, 131_072] as [Int64])
    func `what the rules move is what is expected to move`(size: Int64) throws {
        for policy in [Self.policy(), Self.policy(bytes: 0)] {
            guard case .own(let rule) = try #require(policy.archiveRules.first).content else { continue }
            let moves = size > (rule.largerThan ?? -1)
            let found = policy.expectedClass(
                of: try ObjectKey(rule.prefix + "a.dat"), size: size, storedAt: Self.stored, now: .distantFuture)
            #expect((found.storageClass == .deepArchive) == moves)
        }
    }

    @Test func `with archiving off nothing is expected to move; after 0 days it is due at once`() throws {
        let key = try ObjectKey("users/ana/photos/a.dat")
        let off = Self.policy(mode: .off).expectedClass(of: key, size: 1 << 22, storedAt: Self.stored, now: Self.due)
        #expect(off == .standard(.archivingIsOff))
        let now = Self.policy(mode: .agent, days: 0).expectedClass(
            of: key, size: 1 << 22, storedAt: Self.stored, now: Self.stored)
        #expect(now.storageClass == .deepArchive)
    }

    @Test(
        arguments: [
            (131_071, "of 128 KiB or more"), (131_072, "larger than 128 KiB"), (111_668, "larger than 111668 bytes"),
            (0, "larger than 0 bytes"),
        ] as [(Int64, String)])
    func `a limit is told as a round number where it is one`(limit: Int64, expected: String) {
        let rule = TierRule(prefix: "a/", largerThan: limit, expireAfterDays: 1)
        #expect(rule.description == "a/: removed after 1 day, \(expected)")
    }
}
