import Testing

@testable import SyncCLI

@Suite struct DashedNamesTests {
    @Test(
        arguments: [
            (["status", "-a.jpg"], "There is a file of this name: write ./-a.jpg"),
            (["status", "--x", "-a.jpg"], "There is a file of this name: write ./-a.jpg"),
            (["status", "-b.jpg"], nil), (["status", "--", "a.jpg"], nil),
        ] as [([String], String?)])
    func `a file that is read as an option is named as it has to be written`(arguments: [String], hint: String?) {
        let exists: (String) -> Bool = { ["-a.jpg", "a.jpg", "--"].contains($0) }
        #expect(DashedNames.hint(to: "Error: Unknown option '-a'", for: arguments, exists: exists) == hint)
        #expect(DashedNames.hint(to: "Error: Missing argument", for: arguments, exists: exists) == nil)
    }
}
