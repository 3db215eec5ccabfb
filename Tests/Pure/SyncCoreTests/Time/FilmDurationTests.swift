import SyncCore
import Testing

@Suite struct FilmDurationTests {
    @Test(arguments: [
        (Duration.milliseconds(1), "0.001", "0:01"), (.milliseconds(1_200), "1.200", "0:01"),
        (.milliseconds(59_500), "59.500", "1:00"), (.seconds(750), "750.000", "12:30"),
        (.seconds(3_723), "3723.000", "1:02:03"),
    ])
    func `a duration is told in seconds, and as players show it`(duration: Duration, seconds: String, clock: String) {
        #expect(duration.secondsText == seconds)
        #expect(Duration(secondsText: seconds) == duration)
        #expect(duration.clockText == clock)
    }

    @Test(arguments: ["", "x", "0", "-1", "nan", "inf", "1e9"])
    func `what no film lasts is none`(text: String) {
        #expect(Duration(secondsText: text) == nil)
    }
}
