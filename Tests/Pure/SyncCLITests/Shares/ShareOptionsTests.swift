import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import Testing

@testable import SyncCLI

@Suite struct ShareOptionsTests {
    @Test(arguments: [
        ("30d", 2_592_000.0), ("12h", 43_200), ("45min", 2_700), ("1d", 86_400), ("3650d", 315_360_000),
    ])
    func `a share lasts so many seconds`(text: String, seconds: Double) throws {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        #expect(try #require(ShareExpiry(argument: text)).end(from: now) == now.addingTimeInterval(seconds))
    }

    @Test func `a last day is shared to its end`() throws {
        let end = try #require(ShareExpiry(argument: "2026-12-31")).end(from: Date(timeIntervalSince1970: 0))
        #expect(Quantities.time(end) == "2027-01-01 00:00")
    }

    @Test(arguments: [
        "", "30", "d", "0d", "-1d", "1.5h", "30 d", "1w", "3651d", "2026-02-30", "2026-2-3", "9999999999999999999d",
    ])
    func `what is no length or day is refused`(text: String) {
        #expect(ShareExpiry(argument: text) == nil)
    }

    @Test(arguments: [
        ["Paris", "--to", "+4915123456789"], ["Paris", "--via", "sms"], ["Paris", "--photos", "5-2"],
        ["Paris", "--photos", ""], ["Paris", "--expires", "soon"], ["Paris", "--quality", "best"],
        ["Paris", "--from", " "], ["Paris", "--via", "pigeon", "--to", "x"], [], ["Paris", "Rome"],
    ])
    func `a command line that makes no sense is a usage error`(arguments: [String]) {
        #expect(throws: (any Error).self) { try ShareCommand.parse(arguments) }
    }

    @Test func `a whole command line is read`() throws {
        let command = try ShareCommand.parse([
            "Paris", "--from", "Ana", "--photos", "2-5,0", "--quality", "full", "--expires", "12h", "--to", "a@b.org",
            "--via", "email", "--yes", "--json",
        ])
        #expect(command.vacation.text == "Paris" && command.from == "Ana")
        #expect(command.photos?.description == "0,2-5" && command.quality == .full)
        #expect(command.expires == .after(43_200) && command.via == .email)
        #expect(command.consent.yes && command.options.json)
        let plain = try ShareCommand.parse(["Paris"])
        #expect(plain.photos == nil && plain.quality == .reduced && plain.expires == nil && !plain.dryRun)
    }

    @Test(arguments: [
        (ShareError.tooMany(60, limit: 50), SyncCLI.ExitStatus.usage), (.noSuchNumber(9, photos: 3), .usage),
        (.endsTooLate(days: 60, rule: 31), .usage), (.nothing([]), .failed),
    ])
    func `each refusal has its exit code`(error: ShareError, status: SyncCLI.ExitStatus) {
        #expect(SyncCLI.ExitStatus(error) == status)
    }
}
