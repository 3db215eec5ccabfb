import FoundationEssentials
import SyncCore
import Testing

@Suite struct EventTimeTests {
    @Test(
        arguments: [
            ("2025-10-20T08:15:30Z", 1_760_948_130.0), ("2025-10-20T08:15:30.250Z", 1_760_948_130.25),
            ("2025-10-20T10:15:30+02:00", 1_760_948_130), ("2025-10-20T02:45:30-0530", 1_760_948_130),
            ("2025-10-20T10:15:30+02", 1_760_948_130), ("2025-10-20T08:15:30", 1_760_948_130),
            ("2025-10-20 08:15:30,5", 1_760_948_130.5), ("2025-10-20t08:15z", 1_760_948_100),
            ("2025-10-20", 1_760_918_400), ("2024-02-29T23:59:59Z", 1_709_251_199), ("1760948130", 1_760_948_130),
            ("1760948130250", 1_760_948_130.25), ("1760948130.5", 1_760_948_130.5),
            ("2000-01-01T00:00:00Z", 946_684_800), ("2099-12-31T23:59:59Z", 4_102_444_799),
        ])
    func `a time is read however it is written`(text: String, seconds: Double) {
        #expect(EventTime(text: text)?.date == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            ("1760948130", 1_760_948_130.0), ("1760948130250", 1_760_948_130.25), ("1.76094813e9", 1_760_948_130),
            ("946684800", 946_684_800), ("946684800000", 946_684_800), ("4102444799", 4_102_444_799),
            ("4102444799999", 4_102_444_799.999),
        ])
    func `a number tells by itself whether it counts seconds or milliseconds`(text: String, seconds: Double) {
        #expect(EventTime(number: text)?.date == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            "", "0", "-1", "yesterday", "2025-02-30T00:00:00Z", "2025-10-20T24:00:00Z", "2025-10-20T08:60Z",
            "2025-10-20T08:15:30+2", "2025-10-20T08:15:30Zx", "2025-10-20T", "2025-10-20T08:15:30.Z", "20251020",
            "1999-12-31T23:59:59Z", "2100-01-01", "1760948130250000", "nan", "1760948130e400", "946684799",
            "4102444800",
        ])
    func `what is no moment from 2000 to 2099 is refused`(text: String) {
        #expect(EventTime(text: text) == nil)
        #expect(EventTime(number: text) == nil)
    }
}
