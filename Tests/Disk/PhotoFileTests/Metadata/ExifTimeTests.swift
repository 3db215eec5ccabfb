import SyncCore
import Testing

@testable import SyncPhotos

@Suite struct ExifTimeTests {
    @Test(
        arguments: [
            ("2008:10:22 16:28:39", "", "", "2008-10-22T16:28:39", 0),
            ("2022:08:14 14:12:31", "+03:00", "", "2022-08-14T14:12:31+03:00", 0),
            ("2022:08:14 14:12:31", "-05:30", "", "2022-08-14T14:12:31-05:30", 0),
            ("2015:04:10 20:12:23", "", "550", "2015-04-10T20:12:23", 550),
            ("2015:04:10 20:12:23", "  :  ", "5 ", "2015-04-10T20:12:23", 500),
            ("2022-08-14T14:12:31", "Z", "x", "2022-08-14T14:12:31+00:00", 0),
            ("2024:06:15 07:30:00+09:00", "", "", "2024-06-15T07:30:00+09:00", 0),
            ("2024:06:15 07:30:00.25+09:00", "-07:00", "99", "2024-06-15T07:30:00+09:00", 250),
        ] as [(String, String, String, String, Int64)])
    func `EXIF times`(time: String, offset: String, fraction: String, text: String, milliseconds: Int64) throws {
        let read = try #require(ExifTime(time: time, offset: offset, fraction: fraction))
        #expect(read.captured.description == text)
        #expect(read.captured.clock % 1_000 == milliseconds)
        #expect(ExifTime(time: read.text, offset: read.offset ?? "")?.captured.description == text)
    }

    @Test(
        arguments: [
            "", "    :  :     :  :  ", "0000:00:00 00:00:00", "2023:02:29 10:00:00", "2023:01:01", "23:01:01 10:00:00",
        ])
    func `what is no time`(text: String) {
        #expect(ExifTime(time: text) == nil)
    }
}
