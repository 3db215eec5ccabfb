import ArgumentParser
import FoundationEssentials
import SyncCore
import Testing

@testable import SyncCLI

@Suite struct ProjectsCommandTests {
    private func parse<Command: ParsableCommand>(_ words: [String], as type: Command.Type) throws -> Command {
        try #require(try SyncAgentCommand.parseAsRoot(["projects"] + words) as? Command)
    }

    @Test func `list takes text, status, limit and JSON`() throws {
        let command = try parse(
            ["list", "--search", "oil", "--status", "completed", "--limit", "5", "--json"], as: ProjectsListCommand.self
        )
        #expect(command.search == "oil")
        #expect(command.which.status == .completed)
        #expect(command.which.limit == 5)
        #expect(command.options.json)
    }

    @Test func `delete takes many ids`() throws {
        let command = try parse(["delete", "a", "b", "--yes", "--dry-run"], as: ProjectsDeleteCommand.self)
        #expect(command.ids == ["a", "b"])
        #expect(command.consent.yes && command.dryRun)
    }

    @Test func `export takes a folder and ids, or a zip file and ids`() throws {
        #expect(try parse(["export", "out", "a"], as: ProjectsExportCommand.self).names.map(\.text) == ["out", "a"])
        let zipped = try parse(["export", "--zip", "out.zip", "a"], as: ProjectsExportCommand.self)
        #expect(zipped.zip?.text == "out.zip")
        #expect(zipped.names.map(\.text) == ["a"])
    }

    @Test func `search, show, migrate and stats are there`() throws {
        #expect(try parse(["search", "oil", "--json"], as: ProjectsSearchCommand.self).text == "oil")
        #expect(try parse(["show", "a"], as: ProjectsShowCommand.self).id == "a")
        let move = try parse(["migrate", "old", "new", "--dry-run"], as: ProjectsMigrateCommand.self)
        #expect((move.old.text, move.new.text, move.dryRun) == ("old", "new", true))
        #expect(try parse(["stats", "--json"], as: ProjectsStatsCommand.self).options.json)
    }

    @Test(
        arguments: [
            ["list", "--limit", "0"], ["list", "--status", "done"], ["delete"], ["export"], ["migrate", "one"],
            ["show"],
            ["search"],
        ])
    func `what cannot be meant is refused`(words: [String]) {
        #expect(throws: (any Error).self) { try SyncAgentCommand.parseAsRoot(["projects"] + words) }
    }

    @Test(
        arguments: [
            ("0F3A", true), ("OIL", true), ("painting", true), ("req-7", true), ("water", false), ("", true),
        ])
    func `a text is looked for in id, template, name and request`(text: String, isFound: Bool) {
        let record = ProjectRecord(
            id: "0f3a9c21", templateID: "tpl_oil", templateName: "Oil Painting",
            createdAt: Date(timeIntervalSince1970: 0), status: .completed, requestID: "REQ-7")
        #expect(ProjectFilter(text: text).accepts(record) == isFound)
        #expect(!ProjectFilter(text: text, status: .failed).accepts(record))
    }
}
