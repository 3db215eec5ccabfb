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
        let foreign = try await ForeignDescriptors.closed {
            let error = #expect(throws: DownloadError.self) { _ = try ExportFolder(for: place) }
            #expect(error?.code == .inUse)
        }
        #expect(foreign == 0)
        try folder.place()
        #expect(try tree.files() == ["trip/index.html"])
    }
}
