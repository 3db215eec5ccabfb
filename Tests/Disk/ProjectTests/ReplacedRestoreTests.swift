import Foundation
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Restores of files in a projects folder under whose names another machine has stored its own, which this one has not
/// seen yet.
@Suite struct ReplacedRestoreTests {
    private static let prices = PriceTable(
        region: "eu-central-1", asOf: "2026-07", source: "a test",
        classes: [.standard: ClassPrices(perGBMonth: 0.03, putPer1000: 0.005)], egressPerGB: 0.09)

    private func planner(_ bench: ProjectBench) -> RestorePlanner {
        RestorePlanner(
            store: bench.store, ledger: bench.queue, prices: Self.prices,
            pool: BlockingPool(name: "originals", threads: 1), time: bench.clock.source)
    }

    /// - Parameter name: none for all.
    private func order(_ name: String?, in bench: ProjectBench) async throws -> RestoreJobID {
        let order = RestoreOrder(
            names: [name].compactMap(\.self), scope: RestoreScope(isAll: name == nil), wish: .tier(.bulk), days: 7,
            output: bench.tree.path("out"), requestedBy: "ana")
        let places = RestoreSelection.Places(workingFolder: bench.folder, vacationRoots: [], candidates: { [$0] })
        let proposal = try await planner(bench).propose(order, in: places)
        #expect(proposal.problems == [])
        let job = try await planner(bench).accept(proposal).job
        return try #require(job).id
    }

    private func save(_ job: RestoreJobID, in bench: ProjectBench) async throws -> RestoreDownloader.SaveSummary {
        try await RestoreDownloader(
            store: bench.store, ledger: bench.queue, owner: ClaimOwner(name: "me"),
            pool: BlockingPool(name: "downloads", threads: 1), time: bench.clock.source
        ).run(job: job)
    }

    @Test(arguments: ["a.jpg", "sub/x.jpg", "extra.json"], ["image 2.", "image of another length."])
    func `what another machine has put its own in place of is restored from the versions`(
        name: String, other: String
    ) async throws {
        let laptop = try await ProjectBench.storing([name: "image 1."])
        _ = try await ProjectBench.storing([name: other], in: laptop.memory)
        #expect(try laptop.content(name) == other)
        let result = try await save(try await order(name, in: laptop), in: laptop)
        #expect(result.saved == 1 && result.problems == [])
        #expect(try laptop.tree.read("out/\(FilePath(name).lastComponent?.string ?? "")") == Array("image 1.".utf8))
        let key = try #require(try laptop.status(name)?.key)
        #expect(laptop.text(key) == "image 1.")
        #expect(try laptop.ledger.overview().lost == 0)
        #expect(try laptop.ledger.check() == [])
    }

    @Test(arguments: ["a.jpg", "extra.json"])
    func `what another machine has put its own in place of since it was asked for comes from the versions`(
        name: String
    ) async throws {
        let laptop = try await ProjectBench.storing([name: "image 1."])
        let job = try await order(name, in: laptop)
        _ = try await ProjectBench.storing([name: "image 2."], in: laptop.memory)
        let result = try await save(job, in: laptop)
        #expect(result.saved == 1 && result.problems == [])
        #expect(try laptop.tree.read("out/\(name)") == Array("image 1.".utf8))
        let item = try #require(try laptop.ledger.restoreItems(of: job, after: 0, limit: 9).first)
        #expect(item.key.isProjectVersion && item.savedAt != nil)
        #expect(try laptop.status(name)?.key == item.key)
        #expect(try laptop.ledger.check() == [])
    }

    @Test func `what is in an archived version since it was asked for is told as that, and nothing counts as lost`()
        async throws
    {
        let laptop = try await ProjectBench.storing(["a.jpg": "image 1."])
        let job = try await order("a.jpg", in: laptop)
        _ = try await ProjectBench.storing(["a.jpg": "image 2."], in: laptop.memory)
        let file = try #require(VersionedFile(try laptop.key("a.jpg")))
        let version = try #require(laptop.memory.keys.first { file.isVersion($0) })
        laptop.memory.setClass(.glacier, of: version)
        let result = try await save(job, in: laptop)
        #expect(result.saved == 0 && result.problems.count == 1)
        let reason = result.problems.first?.reason ?? ""
        #expect(reason.hasSuffix("is an earlier version by now; restore it again"), "\(reason)")
        #expect(try laptop.status("a.jpg")?.key == version)
        #expect(try laptop.ledger.overview().lost == 0)
        #expect(try laptop.ledger.check() == [])
    }

    @Test func `what is damaged under its own key is told as before`() async throws {
        let laptop = try await ProjectBench.storing(["a.jpg": "image 1."])
        let job = try await order("a.jpg", in: laptop)
        laptop.memory.damage(try laptop.key("a.jpg"))
        let result = try await save(job, in: laptop)
        #expect(result.saved == 0 && result.problems.count == 1)
        #expect(result.problems.first?.reason.contains("is damaged, or is another than was stored") == true)
    }

    @Test func `a restore of all leaves files as they are that another machine has put its own in place of`()
        async throws
    {
        let files = ["a.jpg": "image 1.", "extra.json": "image 3."]
        let laptop = try await ProjectBench.storing(files)
        try await laptop.writeCatalog(as: "laptop")
        let tower = try await ProjectBench.storing(["a.jpg": "image 2.", "extra.json": "image 4."], in: laptop.memory)
        try await tower.writeCatalog(as: "tower")
        try await laptop.rebuild(as: "laptop", takesOver: false)
        for (name, text) in files {
            let status = try #require(try laptop.status(name))
            let key = try #require(status.key)
            #expect(status.state == .uploaded && laptop.text(key) == text)
        }
        var names: Set<String> = []
        try laptop.ledger.photos(at: laptop.folder) { names.insert($0.path.lastComponent?.string ?? "") }
        #expect(names == ["a.jpg", "extra.json", "projects.json"])
        let result = try await save(try await order(nil, in: laptop), in: laptop)
        #expect(result.problems == [])
        for (name, text) in files { #expect(try laptop.tree.read("out/projects/\(name)") == Array(text.utf8)) }
        #expect(try laptop.ledger.check() == [])
    }
}
