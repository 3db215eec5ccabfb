import FoundationEssentials
import SyncCore
import Testing

@Suite struct VacationDetailsTests {
    private func day(_ text: String) throws -> CalendarDay { try #require(CalendarDay(text)) }
    private func noon(_ day: Int) -> Date { Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200) }

    @Test func `the description wins over the folder's name, which wins over the photos`() throws {
        let photoDays = try day("2020-01-01")...day("2020-01-09")
        let name = VacationName("Paris_France_2024-06-15_2024-06-22")
        let full = VacationDescription(
            locationName: "Paris, France", startDate: try day("2024-06-14"), endDate: try day("2024-06-23"),
            sharedBy: "Ana")
        #expect(
            VacationDetails(name: name, description: full, photoDays: photoDays)
                == VacationDetails(
                    location: "Paris, France", startDate: try day("2024-06-14"), endDate: try day("2024-06-23"),
                    sharedBy: "Ana"))
        #expect(
            VacationDetails(name: name, description: VacationDescription(), photoDays: photoDays)
                == VacationDetails(
                    location: "Paris France", startDate: try day("2024-06-15"), endDate: try day("2024-06-22")))
        #expect(
            VacationDetails(name: VacationName("Rome"), description: VacationDescription(), photoDays: photoDays)
                == VacationDetails(
                    location: "Rome", startDate: try day("2020-01-01"), endDate: try day("2020-01-09")))
        #expect(VacationDetails(name: VacationName("Rome"), description: full, photoDays: nil)?.location != "Rome")
        #expect(
            VacationDetails(name: VacationName("Rome"), description: VacationDescription(), photoDays: nil) == nil)
    }

    @Test func `dates that contradict each other follow the stronger source`() throws {
        let name = VacationName("Rome_2024-06-15_2024-06-22")
        let late = VacationDescription(startDate: try day("2024-07-01"))
        let details = try #require(VacationDetails(name: name, description: late, photoDays: nil))
        #expect(details.days == (try day("2024-07-01")...day("2024-07-01")))
        let early = VacationDescription(endDate: try day("2024-06-01"))
        #expect(
            VacationDetails(name: name, description: early, photoDays: nil)?.days
                == (try day("2024-06-01")...day("2024-06-01")))
        let swapped = VacationDescription(startDate: try day("2024-06-09"), endDate: try day("2024-06-01"))
        #expect(
            VacationDetails(name: name, description: swapped, photoDays: nil)?.days
                == (try day("2024-06-01")...day("2024-06-09")))
    }

    @Test func `a folder without a place is a vacation`() throws {
        let name = VacationName("2024-06-15_2024-06-22")
        let details = try #require(VacationDetails(name: name, description: VacationDescription(), photoDays: nil))
        #expect(details.location == "vacation")
        #expect(details.cacheKey(photoCount: 2) == "vacation_2024-06-15_2024-06-22_2")
    }

    @Test func `days are those of capture on the clock of the place, else those of writing on this machine's`() throws {
        let osaka = ["2024-06-15T07:30:00+09:00", "2024-06-17T23:50:00", "2024-06-16T06:00:00+09:00"]
        #expect(
            try VacationDetails.photoDays(
                taken: osaka.map { try #require(CaptureTime($0)) }, modified: [noon(900)], zone: .fixed(-480))
                == day("2024-06-15")...day("2024-06-17"))
        let written = [noon(9), noon(8)]
        #expect(
            VacationDetails.photoDays(taken: [], modified: written, zone: .fixed(0))
                == CalendarDay(noon(8))...CalendarDay(noon(9)))
        #expect(
            VacationDetails.photoDays(taken: [], modified: written, zone: .fixed(13 * 60))
                == CalendarDay(noon(9))...CalendarDay(noon(10)))
        #expect(VacationDetails.photoDays(taken: [], modified: [], zone: .fixed(0)) == nil)
    }

    @Test func `photos are seen by capture time, then by name, those without a time at the end`() {
        let times = [nil, noon(2), noon(2), noon(1), nil, noon(2)].map { $0.map { CaptureTime($0, offset: 0) } }
        let offsets = CaptureOffsets(times.compactMap(\.self))
        let orders = zip(times, ["a.jpg", "b.jpg", "B.jpg", "z.jpg", "2.jpg", "é.jpg"]).map {
            VacationOrder(takenAt: $0, name: $1, offsets: offsets)
        }
        #expect(
            orders.sorted() == [
                orders[3], orders[2], orders[1], orders[5], orders[4], orders[0],
            ])
    }

    @Test func `a fingerprint knows the photos, and not their order`() throws {
        let one = try #require(MD5Digest(bytes: [UInt8](repeating: 1, count: 16)))
        let two = try #require(MD5Digest(bytes: [UInt8](repeating: 2, count: 16)))
        #expect(VacationFingerprint.material([two, one]) == one.bytes + two.bytes)
        #expect(VacationFingerprint.material([one, two, one]) == one.bytes + one.bytes + two.bytes)
        #expect(VacationFingerprint.material([]) == [])
    }
}
