import FoundationEssentials
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct ArchiveDownloadReportTests {
    /// Photos `0`, `1`, …: the first `readable` of them can be read, one is on its way, the last ones are archived.
    private func page(_ readable: Int, archived: Int) throws -> ArchivePage {
        let keys = try KeyLayout(user: "ana")
        let photos = try (0..<readable + 1 + archived).map { index in
            let key = try ObjectKey("gallery-archive/ana/p/2025/03/\(index).jpg")
            let info = ObjectInfo(
                key: key, size: 1_000, storageClass: index < readable ? .standard : .deepArchive,
                restore: index == readable ? .inProgress : .none)
            return ArchivedGalleryPhoto(info, at: try #require(ArchivedPhotoPlace(key, of: keys)))
        }
        return ArchivePage(photos: photos, next: nil)
    }

    private func report(_ outcomes: [ArchiveDownload.Outcome], archived: Int = 0) throws -> ArchiveDownloadReport {
        let page = try page(outcomes.count, archived: archived)
        return ArchiveDownloadReport(
            "/out", page.photos.filter(\.isReadable), outcomes, of: page, restore: nil)
    }

    @Test func `what was done is counted, and what was not is named`() throws {
        let lost = StoreError(.badDigest, operation: "get", message: "damaged")
        let report = try report(
            [.success(.saved(isVerified: true)), .success(.alreadyThere), .success(.kept), .failure(lost)], archived: 2)
        #expect((report.saved, report.alreadyThere, report.archived, report.retrieving) == (1, 1, 2, 1))
        #expect(report.kept == ["gallery-archive/ana/p/2025/03/2.jpg"])
        #expect(report.failed.map(\.key) == ["gallery-archive/ana/p/2025/03/3.jpg"])
        #expect(report.status == .partlyDone)
    }

    @Test func `photos that are left out are no failure, and it is said how to get them`() throws {
        let report = try report([.success(.saved(isVerified: true))], archived: 3)
        #expect(report.status == .done)
        let text = report.lines(on: .standardOutput([:])).joined(separator: " ")
        #expect(text.contains("1 photo saved in /out"))
        #expect(text.contains("3 photos left out: in the archive. Request them with --restore."))
        #expect(text.contains("run the same command again"))
    }

    @Test func `a photo that was archived since it was listed is counted as such`() throws {
        let report = try report([.failure(StoreError(.archived, operation: "get", message: "archived"))])
        #expect((report.archived, report.failed.count) == (1, 0))
        #expect(report.status == .done)
    }
}
