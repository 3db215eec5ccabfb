import SyncCore
import Testing

@Suite struct CountedTests {
    @Test(
        arguments: [
            (0, "0 photos are", "0 copies"), (1, "1 photo is", "1 copy"), (1_204, "1204 photos are", "1204 copies"),
        ])
    func `a number and its word agree, and so does a verb that goes with them`(
        number: Int, withVerb: String, irregular: String
    ) {
        #expect(number.counted("photo is", "photos are") == withVerb)
        #expect(number.counted("copy", "copies") == irregular)
    }

    @Test func `digits are shown as they are given`() {
        #expect(1_204.counted("photo", as: "1,204") == "1,204 photos")
    }
}
