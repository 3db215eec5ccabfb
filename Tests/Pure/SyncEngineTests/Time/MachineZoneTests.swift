import FoundationEssentials
import SyncCore
import SyncEngine
import Testing

@Suite struct MachineZoneTests {
    @Test(arguments: [-2_000_000_000, 0, 1_000_000_000, 1_718_404_200, 1_735_689_600] as [Double])
    func `the machine's own zone goes there and back`(seconds: Double) throws {
        let instant = Date(timeIntervalSince1970: seconds)
        let zone = MachineZone.current
        let day = zone.day(of: instant)
        // A day either side is all that a zone can make of it.
        #expect(abs(day.daysSince1970 - CalendarDay(instant).daysSince1970) <= 1)
        let clock = CaptureTime(instant, offset: 0)
        #expect(abs(zone.instant(of: clock).timeIntervalSince(instant)) <= 14 * 3_600)
        #expect(zone.day(of: zone.instant(of: clock)) == clock.day)
    }
}
