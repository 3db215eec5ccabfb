import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import Testing

@testable import SyncCLI

@Suite struct ArchiveOptionsTests {
    private func parse<Command: ParsableCommand>(_ words: [String], as type: Command.Type) throws -> Command {
        try #require(try SyncAgentCommand.parseAsRoot(["archive"] + words) as? Command)
    }

    @Test func `list takes filters, a page and where the sheet goes`() throws {
        let command = try parse(
            [
                "list", "--profile", "grandma", "--from", "2025-01-01", "--to", "2025-03-31", "--type", "taskResponse",
                "--limit", "7", "--after", "gallery-archive/ana/p/2025/01/x.jpg", "--html", "out.html", "--force",
                "--json",
            ], as: ArchiveListCommand.self)
        #expect(
            command.which.filter(ProfileBook([], phones: NoPhones(), region: nil, pseudonyms: Pseudonyms(key: [1])))
                == ArchiveFilter(
                    profiles: ["grandma"], ignoresCase: true, from: CalendarDay("2025-01-01"),
                    to: CalendarDay("2025-03-31"),
                    type: .taskResponse))
        #expect((command.limit, command.html?.text, command.force, command.options.json) == (7, "out.html", true, true))
        #expect(try parse(["list"], as: ArchiveListCommand.self).limit == 50)
    }

    @Test(arguments: [
        ["list", "--limit", "0"], ["list", "--force"], ["list", "--from", "2025-02-30"],
        ["list", "--from", "2025-03-01", "--to", "2025-02-01"], ["list", "--type", "no type"],
        ["list", "--profile", ""],
        ["download"], ["download", "--output", "a", "--zip", "b"], ["download", "--output", ""],
        ["download", "--output", "a", "--tier", "bulk"], ["download", "--output", "a", "--days", "3"],
        ["download", "--output", "a", "--restore", "--days", "0"],
        ["download", "--output", "a", "--restore", "--max-cost", "-1"],
    ])
    func `what makes no sense is refused`(words: [String]) {
        #expect(throws: (any Error).self) { try SyncAgentCommand.parseAsRoot(["archive"] + words) }
    }

    @Test func `download takes a folder or a zip file, and what a restore takes`() throws {
        let folder = try parse(
            ["download", "--output", "out", "--restore", "--tier", "bulk", "--days", "3", "--max-cost", "1.5", "-y"],
            as: ArchiveDownloadCommand.self)
        #expect(
            (folder.output?.text, folder.zip?.text, folder.restore, folder.tier, folder.consent.yes) == (
                "out", nil, true, .bulk, true
            ))
        #expect((folder.days, folder.maximumCost, folder.limit) == (3, 1.5, nil))
        #expect(try parse(["download", "--zip", "a.zip"], as: ArchiveDownloadCommand.self).zip?.text == "a.zip")
    }

    private struct NoPhones: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            throw InvalidPhoneNumber(text, reason: "none")
        }
    }
}
