import FoundationEssentials
import SyncCore
import Testing

@Suite struct ClockToleranceTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(arguments: [
        (-86_400, false, false), (0, false, false), (300, false, false), (301, true, false), (86_400, true, false),
        (86_401, true, true),
    ])
    func `a moment is ahead of the clock sooner to tell of it than to act on it`(
        seconds: Int, isTold: Bool, isActedOn: Bool
    ) {
        let moment = now.addingTimeInterval(Double(seconds))
        #expect(moment.isAhead(of: now) == isTold)
        #expect(moment.isAhead(of: now, by: ClockTolerance.toAct) == isActedOn)
    }
}
