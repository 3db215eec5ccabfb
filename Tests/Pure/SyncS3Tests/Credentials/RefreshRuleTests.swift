import FoundationEssentials
import SyncS3
import Testing

@Suite struct RefreshRuleTests {
    @Test(
        arguments: [
            (nil, .keep), (3_600, .keep), (901, .keep), (900, .advisory), (601, .advisory), (600, .mandatory),
            (1, .mandatory), (0, .expired), (-1, .expired),
        ] as [(TimeInterval?, RefreshRule)])
    func `What is left decides`(seconds: TimeInterval?, rule: RefreshRule) {
        let now = Date(timeIntervalSince1970: 1_000_000)
        #expect(RefreshRule(expiration: seconds.map { now.addingTimeInterval($0) }, now: now) == rule)
    }
}
