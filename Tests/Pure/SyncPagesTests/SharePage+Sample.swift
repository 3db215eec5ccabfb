import FoundationEssentials
import SyncCore
import SyncPages

extension SharePage {
    /// 15 June 2024, 14:03:00 UTC.
    static let afternoon = Date(timeIntervalSince1970: 1_718_460_180)

    static func sample(photos count: Int = 3, location: String = "Paris France") -> SharePage {
        SharePage(
            location: location, startDate: CalendarDay(afternoon), endDate: CalendarDay(afternoon + 7 * 86_400),
            sharedBy: "Ana", expiresAt: afternoon + 30 * 86_400,
            photos: (0..<count).map { index in
                Photo(
                    orderIndex: index, link: "x_\(index).jpg", thumbnailLink: "thumbnails/\(index).jpg", width: 2_048,
                    height: 1_536, size: 400_000,
                    takenAt: index == 2 ? nil : CaptureTime(afternoon + Double(index) * 3_600, offset: 0),
                    downloadName: "\(index + 1)_Paris.jpg")
            },
            manifestLink: "vacation.json", mirrorReference: "6f1c0b2e-9f3a-4a52-8a3c-1d2e3f405162")
    }

    func with(_ change: (inout SharePage) -> Void) -> SharePage {
        var page = self
        change(&page)
        return page
    }
}
