import SyncEngine
import Testing

@Suite struct FreeNamesTests {
    @Test func `the first keeps its name, and a number that another one has is passed over`() {
        var names = FreeNames<String>()
        func take(_ name: String) -> String { names.take(name) { "\(name) (\($0))" } }
        #expect(
            ["a", "a", "b", "a (3)", "a", "b", "a (3)"].map(take) == [
                "a", "a (2)", "b", "a (3)", "a (4)", "b (2)", "a (3) (2)",
            ])
        #expect(names.contains("a (4)") && !names.contains("a (5)"))
    }

    @Test func `ten thousand of one name take ten thousand steps`() {
        var names = FreeNames<String>()
        var steps = 0
        for _ in 0..<10_000 {
            _ = names.take("IMG.jpg") { number in
                steps += 1
                return "IMG (\(number)).jpg"
            }
        }
        #expect(steps == 9_999)
    }
}
