import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import Testing

@testable import SyncCLI
@testable import SyncLedger

@Suite struct ProfileReportTests {
    private struct PlusNumbers: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            guard text.hasPrefix("+") else { throw InvalidPhoneNumber(text, reason: "no +") }
            return PhoneNumber(e164: text)
        }
    }

    @Test func `profiles are listed with their events, and events without one are pointed at`() throws {
        let ledger = try Ledger.inMemory()
        _ = try ledger.addProfile(
            uuid: "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d", phone: PhoneNumber(e164: "+17788143739"), name: "Grandma",
            at: Date(timeIntervalSince1970: 1_767_225_600))
        let report = ProfileListReport(
            ProfileBook(
                try ledger.profiles(), phones: PlusNumbers(), region: nil,
                pseudonyms: Pseudonyms(key: [1])),
            uses: [
                ProfileUse(profile: "+17788143739", uuid: nil, events: 1_200),
                ProfileUse(profile: "+4915112345678", uuid: nil, events: 2),
                ProfileUse(profile: "other", uuid: nil, events: 9),
            ])
        let lines = report.lines(on: .standardOutput([:]))
        #expect(lines[1] == "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d  +17788143739        1,200  Grandma")
        #expect(lines[2].hasPrefix("2 events with a number that has no profile"))
        #expect(try JSONOutput.text(report).contains(#""createdAt" : "2026-01-01T00:00:00Z""#))
    }

    @Test func `merged profiles stand below the one that has all of theirs, with their numbers`() throws {
        let ledger = try Ledger.inMemory()
        let id = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
        _ = try ledger.addProfile(
            uuid: id, phone: PhoneNumber(e164: "+17788143739"), name: nil, at: Date(timeIntervalSince1970: 0))
        try ledger.renameProfile("ruth", to: "Ruth")
        try ledger.mergeProfile(id, into: "ruth")
        try ledger.mergeProfile("u-17", into: "ruth")
        let report = ProfileListReport(
            ProfileBook(
                try ledger.profiles(), notes: try ledger.profileNotes(), phones: PlusNumbers(), region: nil,
                pseudonyms: Pseudonyms(key: [1])),
            uses: [
                ProfileUse(profile: "+17788143739", uuid: nil, events: 2),
                ProfileUse(profile: "ruth", uuid: nil, events: 1),
            ])
        let lines = report.lines(on: .standardOutput([:]))
        #expect(lines[1].hasPrefix("ruth  ") && lines[1].hasSuffix("  3  Ruth"))
        #expect(lines[2].contains("+17788143739") && lines[2].hasSuffix("was \(id)"))
        #expect(lines[3].hasSuffix("was u-17"))
        #expect(report.profiles.isEmpty)
    }

    @Test func `a merge that was made before is told as such, and names both`() throws {
        let ledger = try Ledger.inMemory()
        try ledger.renameProfile("ruth", to: "Ruth")
        try ledger.mergeProfile("u-17", into: "ruth")
        let book = ProfileBook(
            try ledger.profiles(), notes: try ledger.profileNotes(), phones: PlusNumbers(), region: nil,
            pseudonyms: Pseudonyms(key: [1]))
        func text(moved: Int) throws -> String {
            let report = ProfileMergeReport(
                dryRun: false, from: .init("u-17", book), into: .init("ruth", book), events: 20,
                photos: .init(moved: moved, left: []), isMerged: true)
            #expect(try !JSONOutput.text(report).contains("isMerged"))
            return report.lines(on: .standardOutput([:])).joined(separator: " ")
        }
        #expect(try text(moved: 0) == "u-17 is Ruth already: 20 events")
        #expect(try text(moved: 3) == "u-17 is Ruth already: 20 events, 3 archived photos moved")
    }

    @Test func `events of a profile that may be a number without its country are counted, and told`() throws {
        let ledger = try Ledger.inMemory()
        let report = ProfileListReport(
            ProfileBook(
                try ledger.profiles(), phones: PlusNumbers(), region: nil,
                pseudonyms: Pseudonyms(key: [1])),
            uses: [
                ProfileUse(profile: "030/12345", uuid: nil, events: 2),
                ProfileUse(profile: "015112345678", uuid: nil, events: 1),
                ProfileUse(profile: "7788143739", uuid: "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d", events: 4),
                ProfileUse(profile: "other", uuid: nil, events: 9),
            ])
        #expect((report.orphanedEvents, report.waitingEvents) == (0, 3))
        let text = report.lines(on: .standardOutput([:])).joined(separator: " ")
        #expect(text.contains("3 events of a profile that waits") && text.contains("set share.phone_region"))
        #expect(try JSONOutput.text(report).contains(#""waitingEvents" : 3"#))
    }

    @Test(arguments: [
        ["add"], ["add", "+1", "--id", "no-uuid"], ["add", "+1", "--name", ""], ["add", "+1", "--name", "a\nb"],
        ["migrate", "now"], ["rename", "grandma"], ["rename", "grandma", ""], ["rename", "grandma", "a\nb"],
        ["merge", "grandma"], ["remove"],
    ])
    func `what makes no sense is refused`(words: [String]) {
        #expect(throws: (any Error).self) { try SyncAgentCommand.parseAsRoot(["profiles"] + words) }
    }

    @Test func `migrate does not ask or delete unless it is told to`() throws {
        let command = try #require(
            try SyncAgentCommand.parseAsRoot(["profiles", "migrate"]) as? ProfilesMigrateCommand)
        #expect(!command.deleteOrphans && !command.consent.yes && !command.dryRun)
        let other = try #require(
            try SyncAgentCommand.parseAsRoot(["profiles", "migrate", "--delete-orphans", "--yes"])
                as? ProfilesMigrateCommand)
        #expect(other.deleteOrphans && other.consent.yes)
    }
}
