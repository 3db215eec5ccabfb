import FoundationEssentials
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Parts that nobody will go on from.
@Suite struct LeftoverPartTests {
    @Test(arguments: [("the object's", DownloadOutcome.alreadyThere), ("another", .kept)])
    func `where the file is there, what a killed run left goes`(file: String, outcome: DownloadOutcome) async throws {
        let bench = try await DownloadBench()
        try bench.tree.write(file == "another" ? Array("mine".utf8) : bench.bytes, to: "photo.jpg")
        try bench.tree.write(bench.bytes.prefix(300).map(\.self), to: DownloadBench.part)
        #expect(try await bench.download().run(bench.task(sha256: bench.sha256)) == outcome)
        #expect(try bench.tree.files() == ["photo.jpg"])
    }

    @Test func `what somebody is at, a link, and files of the person stay`() throws {
        let tree = try TemporaryTree()
        for name in [".gone.jpg.sync-agent-part", ".busy.jpg.sync-agent-part", "mine.sync-agent-part", ".mine.jpg"] {
            try tree.write("some bytes", to: name)
        }
        #expect(symlink("mine.sync-agent-part", tree.path(".link.sync-agent-part").string) == 0)
        let busy = try PartFile(for: tree.path("busy.jpg"), calls: DownloadCalls())
        try NewFile.discardAll(in: tree.root)
        let kept = [".busy.jpg.sync-agent-part", ".mine.jpg", "mine.sync-agent-part"]
        #expect(try tree.files().filter { $0 != ".link.sync-agent-part" } == kept)
        var status = stat()
        #expect(lstat(tree.path(".link.sync-agent-part").string, &status) == 0)
        try busy.remove()
    }

    @Test func `a part that nobody has gone on from for a week goes with the next run, whatever that asks for`()
        async throws
    {
        let bench = try await DownloadBench()
        try bench.tree.write("half", to: ".earlier.jpg.sync-agent-part")
        let outcomes: [DownloadBatch.Outcome] = [.failure(CancellationError())]
        // Of the part's own time only what nobody can set counts.
        try bench.tree.age(".earlier.jpg.sync-agent-part", bySeconds: 30 * 86_400)
        for (days, files) in [(6.0, [".earlier.jpg.sync-agent-part"]), (8, [])] {
            let now = Date.now.addingTimeInterval(days * 86_400)
            await DownloadBatch.removeLeftovers(bench.tree.root, after: outcomes, bench.pool, now: now)
            #expect(try bench.tree.files() == files)
        }
    }

    @Test(arguments: [true, false])
    func `a batch that has all leaves no part of an earlier one; one that has not keeps them`(isWhole: Bool)
        async throws
    {
        let bench = try await DownloadBench()
        try bench.tree.write("half", to: ".earlier.jpg.sync-agent-part")
        let missing = DownloadTask(
            key: try ObjectKey("users/ana/photos/none.dat"), folder: bench.tree.root, name: "none.jpg")
        let outcomes = await DownloadBatch(download: bench.download()).run(
            isWhole ? [bench.task()] : [bench.task(), missing])
        await DownloadBatch.removeLeftovers(bench.tree.root, after: outcomes, bench.pool, now: .now)
        #expect(try bench.tree.files() == (isWhole ? [] : [".earlier.jpg.sync-agent-part"]) + ["photo.jpg"])
    }
}
