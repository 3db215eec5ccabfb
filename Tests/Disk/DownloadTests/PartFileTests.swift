import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct PartFileTests {
    @Test(arguments: [("", false), ("what an earlier run left", true)])
    func `A part that nobody has looked at yet stays when there is something in it`(text: String, stays: Bool) throws {
        let tree = try TemporaryTree()
        try tree.write(text, to: DownloadBench.part)
        do {
            let part = try PartFile(for: tree.path("photo.jpg"), calls: DownloadCalls())
            #expect(part.position == 0)
        }
        #expect(try tree.files() == (stays ? [DownloadBench.part] : []))
        if stays { #expect(try tree.read(DownloadBench.part) == Array(text.utf8)) }
    }
}
