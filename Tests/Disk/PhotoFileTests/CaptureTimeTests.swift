import Foundation
import Testing

@testable import SyncPhotos

@Suite struct CaptureTimeTests {
    @Test(
        "EXIF times",
        arguments: [
            ("1970:01:01 00:00:00", "", "", 0.0),
            ("2008:10:22 16:28:39", "", "", 1_224_692_919),
            ("2022:08:14 14:12:31", "+03:00", "", 1_660_475_551),
            ("2022:08:14 14:12:31", "-05:30", "", 1_660_506_151),
            ("2015:04:10 20:12:23", "", "550", 1_428_696_743.55),
            ("2000:02:29 23:59:59", "", "", 951_868_799),
            ("1969:12:31 23:59:59", "", "", -1),
            ("2022-08-14T14:12:31", "Z", "x", 1_660_486_351),
        ])
    func time(time: String, offset: String, fraction: String, seconds: Double) throws {
        let date = try #require(CaptureTime(time: time, offset: offset, fraction: fraction)).date
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test(
        "what is no time",
        arguments: [
            "", "    :  :     :  :  ", "0000:00:00 00:00:00", "2023:02:29 10:00:00", "2023:13:01 10:00:00",
            "2023:01:01 24:00:00", "2023:01:01", "23:01:01 10:00:00", "2023:01:01 1O:00:00",
        ])
    func noTime(text: String) {
        #expect(CaptureTime(time: text) == nil)
    }
}
