import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ExportFolderTests {
    @Test func `while one exports to a place, another one is refused and takes nothing of it`() async throws {
        let tree = try TemporaryTree()
        let place = tree.path("trip")
        let folder = try ExportFolder(for: place)
        try folder.write("a page", to: "index.html")
        var refused = 0
        let foreign = try await ForeignDescriptors.closed(times: 5_000) {
            do { _ = try ExportFolder(for: place) } catch let error as DownloadError where error.code == .inUse {
                refused += 1
            }
        }
        #expect(refused == 5_000 && foreign == 0)
        try folder.place()
        #expect(try tree.files() == ["trip/index.html"])
    }
}
