import SyncCore
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct RestoreEndTests {
    private func item(_ key: String, error: String? = nil, note: String? = nil) -> RestoreReport.Item {
        RestoreReport.Item(path: nil, paths: [], key: key, state: "restored", error: error, note: note)
    }

    @Test func `what was told of a restore when it began is not told again when it ends`() {
        let told = [item("a", note: "slow"), item("b", error: "refused"), item("c"), item("d", note: "slow")]
        let items = [
            item("a", note: "slow"), item("b", error: "refused"), item("c", error: "damaged"),
            item("d", note: "slow; the original is there, and stays"),
        ]
        let news = items.news(besides: told)
        #expect(news.map(\.key) == ["a", "b", "c", "d"])
        #expect(news.map(\.error) == [nil, nil, "damaged", nil])
        #expect(news.map(\.note) == [nil, nil, nil, "slow; the original is there, and stays"])
        #expect(items.news(besides: []).map(\.note) == items.map(\.note))
    }

    @Test func `a photo that was never stored is told so, and why`() {
        let skipped = RestoreReport.Skipped(
            RestoreSelection.Problem(name: "/p/a.jpg", reason: .noMD5("the file is empty")))
        #expect(skipped.state == "pending")
        #expect(skipped.reason == "never stored: the file is empty")
    }
}
