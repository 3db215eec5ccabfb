import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Events of a gallery some of whose files are left out.
@Suite struct RetentionFilterTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    @Test func `a photo beside an event that the filter leaves out is not archived either, and its text stays`()
        async throws
    {
        let filtered = WatchedFolder(
            kind: .gallery, path: bench.gallery, profile: "grandma", filter: try PathFilter(["- private/*.jpg"]))
        _ = try bench.ledger.register([filtered])
        try bench.write(bench.event("e1", photo: "a.jpg"), to: "private/event.json")
        try bench.tree.write(try RetentionBench.jpeg(1), to: "gallery/private/a.jpg")
        try bench.write(bench.event("e2", photo: "b.jpg"), to: "event.json")
        try bench.tree.write(try RetentionBench.jpeg(2), to: "gallery/b.jpg")
        try await bench.sync()
        // No failure: it is as somebody wants it.
        #expect(try bench.ledger.failedPhotos(limit: 10) == [])
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (1, 1, 0))
        let skipped = try #require(summary.skipped.named.first)
        #expect(skipped.event == "e1")
        #expect(skipped.reason == "its photo is left out by the filter of its folder (- private/*.jpg)")
        #expect(try !bench.isArchived("e1") && bench.isArchived("e2"))
        #expect(try bench.read("private/event.json").contains(RetentionBench.text))
        // Without the filter it is stored, and archived.
        _ = try bench.ledger.register([WatchedFolder(kind: .gallery, path: bench.gallery, profile: "grandma")])
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try bench.isArchived("e1"))
    }
}
