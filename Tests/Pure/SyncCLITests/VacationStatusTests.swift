import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct VacationStatusTests {
    private let root: FilePath = "/pictures/trips"

    /// A ledger with a waiting photo in each of these folders.
    private func records(_ folders: [String]) throws -> [VacationRecord] {
        let ledger = try Ledger.inMemory()
        let folder = try #require(try ledger.register([WatchedFolder(kind: .vacations, path: root)]).first)
        for (number, name) in folders.enumerated() {
            let stamp = FileStamp(device: 1, inode: UInt64(number), size: 9, modified: 1)
            let isQueued = try ledger.observe(
                folder.id, file: FilePath("\(name)/a.jpg"), stamp: stamp, stillThere: { _ in false },
                at: Date(timeIntervalSince1970: 0))
            #expect(isQueued)
        }
        return try ledger.vacations()
    }

    @Test func `the latest comes first, and a field without a value is null`() throws {
        let records = try records(["Rome_2023-01-01", "Oslo_2024-01-01_2024-01-09", "Someday"])
        let vacations = StatusReport.vacations(records, shared: [:])
        #expect(vacations.map(\.location) == ["Someday", "Oslo", "Rome"])
        let texts = try vacations.map { try JSONOutput.text($0).filter { !$0.isWhitespace } }
        #expect(
            texts.prefix(2) == [
                #"{"cacheKey":null,"endDate":null,"location":"Someday","photoCount":1,"shareChangedBy":null,"#
                    + #""startDate":null,"state":"pending"}"#,
                #"{"cacheKey":"Oslo_2024-01-01_2024-01-09_1","endDate":"2024-01-09","location":"Oslo","photoCount":1,"#
                    + #""shareChangedBy":null,"startDate":"2024-01-01","state":"pending"}"#,
            ])
    }

    @Test func `twenty are shown in 80 columns, and the others are counted`() throws {
        let names = (10..<35).map { "A very long place \(String(repeating: "東京", count: 20))\u{1B}[31m_20\($0)-06-15" }
        let vacations = StatusReport.vacations(try records(names), shared: [:])
        let lines = VacationLines(vacations, terminal: .standardOutput(["TERM": "dumb"]), width: 80).lines
        #expect(lines.count == 23)
        #expect(lines.allSatisfy { TextLayout.width($0) <= 80 && !$0.contains("\u{1B}") })
        #expect(lines[2].contains("2034-06-15"))
        #expect(lines.last == "and 5 earlier ones")
        #expect(VacationLines([], terminal: .standardOutput(["TERM": "dumb"]), width: 80).lines.isEmpty)
    }
}
