import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct MirrorAccountTests {
    private func result(_ change: (inout MirrorResult) -> Void = { _ in }) throws -> MirrorResult {
        let id = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
        var result = MirrorResult(shareID: id, destination: "/home/ana/paris")
        result.alreadyThere = 3
        change(&result)
        return result
    }

    private let failure = MirrorResult.Failure(
        name: "001.jpg", error: StoreError(.linkEnded, operation: "get", message: "the link has ended"))
    private let away = StoreError(.unreachable, operation: "get", message: "cannot reach it")

    @Test func `A watch ends as its last look does`() throws {
        var account = MirrorAccount()
        #expect(account.status == .done)
        account.note(.success(try result { $0.failures = [failure] }))
        #expect(account.status == .partlyDone)
        account.note(.failure(away))
        #expect(account.status == .storeUnreachable)
        account.note(.success(try result()))
        #expect(account.status == .done)
        account.note(.success(try result { $0.end = .gone }))
        #expect(account.status == .failed)
        account.note(
            .success(
                try result {
                    $0.end = .gone; $0.isComplete = true
                }))
        #expect(account.status == .done)
        account.note(
            .success(
                try result {
                    $0.obstacle = away; $0.untried = ["b", "c"]
                }))
        #expect(account.status == .storeUnreachable)
    }

    @Test func `A share that ends while its folder is lost is told with what came before`() throws {
        var account = MirrorAccount()
        account.note(.success(try result { $0.downloaded = ["001.jpg"] }))
        account.noteEnd(at: Date(timeIntervalSince1970: 1_767_225_600))
        #expect(account.total?.ended == "gone" && account.total?.downloaded == 1 && account.status == .noSuchPath)
    }

    @Test func `What every look finds is told once, and again when it has been away`() {
        var account = MirrorAccount()
        #expect(account.news(in: ["a failed", "b failed"]) == ["a failed", "b failed"])
        #expect(account.news(in: ["a failed", "b failed"]).isEmpty)
        #expect(account.news(in: ["b failed", "c failed"]) == ["c failed"])
        #expect(account.news(in: []).isEmpty)
        #expect(account.news(in: ["b failed"]) == ["b failed"])
    }
}
