import SyncCore
import Testing

@testable import SyncCLI

@Suite struct LifecycleViewTests {
    private let view = LifecycleView(terminal: .standardOutput(["TERM": "dumb"]))
    private let store = StoreIdentity(type: "s3", location: "s3://photos/")

    private func policy(_ mode: TierMode, prices: PriceTable? = nil, bytes: Int64 = 131_072) -> TierPolicy {
        TierPolicy(
            user: "ana", mode: mode, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: bytes, prices: prices), shareExpireDays: 30)
    }

    private func report(
        _ policy: TierPolicy, inStore: [LifecycleRule]?, prices: PriceTable? = nil
    ) -> LifecycleReport {
        let plan = inStore.map { LifecyclePlan(from: LifecycleConfiguration(rules: $0), policy: policy) }
        return LifecycleReport(
            policy, plan: plan, foreignIDs: inStore?.map(\.id).filter { !policy.ruleIDs.contains($0) } ?? [],
            floor: LifecycleReport.Floor(policy.floor, prices: prices), applied: false)
    }

    @Test(arguments: [
        (TierMode.bucket, true, "store", 0, 5), (.agent, true, "agent", 3, 2), (.off, true, "nobody", 0, 2),
        (.bucket, false, "agent", 3, 0),
    ])
    func `who carries the rules out, and which are still to be written`(
        mode: TierMode, keepsRules: Bool, who: String, byAgent: Int, missing: Int
    ) {
        let report = report(policy(mode), inStore: keepsRules ? [] : nil)
        #expect(report.carriedOutBy == who)
        #expect(report.rules.count { $0.state == .byAgent } == byAgent)
        #expect(report.rules.count { $0.state == .missing } == missing)
    }

    @Test func `a difference has a mark for each rule`() {
        let policy = policy(.bucket)
        var inStore = policy.bucketRules
        inStore[0].content = .foreign("<Rule></Rule>")
        inStore.removeLast()
        inStore.append(LifecycleRule(id: "theirs\n", content: .foreign("")))
        let lines = view.difference(report(policy, inStore: inStore))
        #expect(
            lines.filter { !$0.hasPrefix(" ") } == [
                "~ sync-agent-photos-ana", "= sync-agent-originals-ana", "= sync-agent-gallery-ana",
                "= sync-agent-shares", "+ sync-agent-uploads", "1 rule of others, left as they are: theirs\\u{a}",
            ])
        let gone = view.difference(report(self.policy(.off), inStore: Array(policy.bucketRules.prefix(1))))
        #expect(gone.first == "- sync-agent-photos-ana")
    }

    @Test func `the smallest size is explained by both numbers`() {
        let prices = PriceTable(
            region: "us-east-1", asOf: "2026-07", source: "s",
            classes: [
                .standard: ClassPrices(perGBMonth: 0.023, putPer1000: 0.005),
                .deepArchive: ClassPrices(perGBMonth: 0.001, putPer1000: 0.5),
            ], egressPerGB: 0.09)
        let policy = policy(.bucket, prices: prices)
        let floor = report(policy, inStore: [], prices: prices).floor
        #expect(floor.configuredBytes == 131_072)
        #expect(floor.bytes == floor.breakEvenBytes)
        #expect(floor.sentence.contains("131072") == false && floor.sentence.contains("is 128 KiB, and by Amazon's"))
        #expect(report(self.policy(.bucket), inStore: []).floor.breakEvenBytes == nil)
    }

    @Test(arguments: [TierMode.bucket, .agent, .off])
    func `it fits 80 columns`(mode: TierMode) {
        let inStore = [LifecycleRule(id: String(repeating: "x ", count: 100), content: .foreign(""))]
        let report = report(policy(mode), inStore: inStore)
        for line in view.rules(report, in: store) + view.difference(report) {
            #expect(TextLayout.width(line) <= 80, "\(line)")
        }
    }
}
