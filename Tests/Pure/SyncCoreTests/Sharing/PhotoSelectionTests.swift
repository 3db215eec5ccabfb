import SyncCore
import Testing

@Suite struct PhotoSelectionTests {
    @Test(arguments: [
        ("0", "0"), ("0,2-5", "0,2-5"), ("2-5,0", "0,2-5"), ("1,2,3", "1-3"), ("3-3", "3"), ("0-4,2-9", "0-9"),
        ("0-2,3-5", "0-5"), (" 1 , 3 - 4 ", "1,3-4"), ("007", "7"), ("5,5", "5"),
    ])
    func `equal selections have one text`(text: String, canonical: String) throws {
        #expect(try #require(PhotoSelection(text)).description == canonical)
    }

    @Test(arguments: [
        "", ",", "1,", "-1", "1-", "5-2", "a", "1-2-3", "1..3", "1;2", "+1", "1.5", "99999999999999999999", "1000000",
        "٣",
    ])
    func `what is no list of numbers is refused`(text: String) {
        #expect(PhotoSelection(text) == nil)
    }

    @Test func `it knows its numbers`() throws {
        let selection = try #require(PhotoSelection("0,2-5"))
        #expect((0..<8).filter(selection.contains) == [0, 2, 3, 4, 5])
        #expect(selection.last == 5)
    }
}
