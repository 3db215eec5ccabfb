import FoundationEssentials
import SyncCore
import Testing

@Suite struct CaptureTimeTests {
    private func time(_ text: String) throws -> CaptureTime { try #require(CaptureTime(text)) }

    @Test(arguments: [
        ("2024-06-15T07:30:00+09:00", "2024-06-15T07:30:00+09:00"),
        ("2024:06:15 07:30:00+09:00", "2024-06-15T07:30:00+09:00"),
        ("2024:06:15 07:30:00", "2024-06-15T07:30:00"), ("2024-06-15T07:30:00.254-0330", "2024-06-15T07:30:00-03:30"),
        ("2024-06-15T07:30Z", "2024-06-15T07:30:00+00:00"), ("2024-06-15", "2024-06-15T00:00:00"),
        ("2024-06-15T07:30:00 +05", "2024-06-15T07:30:00+05:00"), ("1969-12-31T23:59:59", "1969-12-31T23:59:59"),
        ("2024:06:15 07:30:00.5", "2024-06-15T07:30:00"), ("2024-12-31T23:59:60Z", "2025-01-01T00:00:00+00:00"),
    ])
    func `it is written as ISO 8601, however it was read`(text: String, written: String) throws {
        #expect(try time(text).description == written)
        #expect(try time(written).description == written)
    }

    @Test(arguments: [
        "", "    :  :     :  :  ", "0000:00:00 00:00:00", "2023:02:29 10:00:00", "2023:13:01 10:00:00",
        "2023:01:01 24:00:00", "23:01:01 10:00:00", "2023:01:01 1O:00:00", "2024-06-15T07:30:00+15:00",
        "2024-06-15T07:30:00+09:60", "2024-06-15T07:30:00 at noon", "../../x", "2024-06-15T", "2024-06-15T07",
    ])
    func `what is no time is none`(text: String) {
        #expect(CaptureTime(text) == nil)
    }

    @Test func `it is read in the middle of other bytes`() throws {
        let bytes = Array("<a>2024-06-15T07:30:00.25-03:30</a>2".utf8)
        #expect(try CaptureTime(utf8: bytes[3..<31]) == time("2024-06-15T07:30:00.25-03:30"))
        #expect(try CaptureTime(utf8: bytes[3..<22]) == time("2024-06-15T07:30:00"))
        #expect(CaptureTime(utf8: bytes[3..<32]) == nil)
        #expect(CaptureTime(utf8: []) == nil)
    }

    /// What is read in one go says what is read byte for byte.
    @Test(arguments: ["2024-02-29T23:59:59.999Z", "2024-06-15T07:30:00Z", "1969-12-31T00:00:60.001Z"])
    func `a store's time with any one byte changed is what its text says`(text: String) {
        let whole = Array(text.utf8)
        // Each one is read after the one before, whose day it may have.
        var last = CaptureTime.WrittenDay()
        let first = whole.withUnsafeBufferPointer { CaptureTime(utf8: $0, after: &last) }
        #expect(first != nil)
        for place in whole.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = whole
                bytes[place] = byte
                let time = bytes.withUnsafeBufferPointer { CaptureTime(utf8: $0, after: &last) }
                #expect(time == CaptureTime(utf8: bytes[...]), "\(bytes)")
            }
            let cut = whole[..<place]
            let time = cut.withUnsafeBufferPointer { CaptureTime(utf8: $0, after: &last) }
            #expect(time == CaptureTime(utf8: cut))
            let again = whole.withUnsafeBufferPointer { CaptureTime(utf8: $0, after: &last) }
            #expect(again == first)
        }
    }

    @Test(arguments: [("5", 500), ("05", 50), ("25", 250), ("254", 254), ("2549", 254), ("0000", 0), ("999999", 999)])
    func `a fraction of a second counts to the millisecond`(digits: String, milliseconds: Int) throws {
        #expect(try time("1970-01-01T00:00:01.\(digits)Z").clock == 1_000 + Int64(milliseconds))
    }

    @Test func `it has the day and clock of the place, and the instant where the offset is known`() throws {
        let osaka = try time("2024-06-15T07:30:00.25+09:00")
        #expect(osaka.day.description == "2024-06-15")
        #expect(osaka.hourAndMinute == "07:30")
        #expect(osaka.instant == Date(timeIntervalSince1970: 1_718_404_200.25))
        #expect(try time("2024-06-15T07:30:00").instant == nil)
        #expect(try time("1969-12-31T23:59:59").hourAndMinute == "23:59")
        #expect(CaptureTime(Date(timeIntervalSince1970: 1_718_404_200.25), offset: 540) == osaka)
    }

    @Test(arguments: [
        ("1904-01-01T00:00:00", false), ("1970-01-01T00:00:00", false), ("1980-01-01T00:02:11", false),
        ("2099-06-15T07:30:00", false), ("1700-01-01T10:00:00", false), ("2024-06-18T00:00:01", false),
        ("2024-06-17T01:00:00+13:00", true), ("1955-08-01T12:00:00", true), ("1904-01-02T12:00:00", true),
    ])
    func `clocks that were never set, and times to come, do not count`(text: String, counts: Bool) throws {
        let now = Date(timeIntervalSince1970: 1_718_496_000)  // 2024-06-16T00:00:00Z
        #expect(try time(text).isPlausible(at: now) == counts)
    }

    @Test func `a second field of the same clock tells the offset, another clock does not`() throws {
        let camera = try time("2024-06-15T07:30:00.5")
        #expect(try camera.completed(by: time("2024-06-15T07:30:00+09:00")).offset == 540)
        #expect(try camera.completed(by: time("2024-06-15T07:30:01+09:00")) == camera)
        #expect(try time("2024-06-15T07:30:00Z").completed(by: time("2024-06-15T07:30:00+09:00")).offset == 0)
    }
}
