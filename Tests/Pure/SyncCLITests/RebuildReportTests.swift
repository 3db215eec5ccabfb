import Testing

@testable import SyncCLI

@Suite struct RebuildReportTests {
    private func report(_ machines: [RebuildReport.Machine] = [], unclear: Int = 0, toBeRead: Int = 0) -> RebuildReport
    {
        RebuildReport(
            photos: 1, fromCatalog: 1, recovered: 0, vacations: 0, shares: 0, requests: 1, machines: machines, lost: 0,
            unsaved: 0, unclear: unclear, problems: [], setAside: nil, toBeRead: toBeRead)
    }

    private func advice(_ names: [String]) -> [String] {
        let machines = names.enumerated().map { index, name in
            RebuildReport.Machine(
                id: "id-\(index)", name: name, role: "other", writtenAt: nil, path: "machines/\(index)")
        }
        return report(machines).lines(on: .standardOutput([:])).filter { $0.contains("rebuild --machine") }
    }

    @Test func `what contradicts the catalogue is no whole rebuild, and what is only to be read is one`() {
        let (clear, read, cut) = (report(), report(toBeRead: 2), report(unclear: 1))
        #expect(clear.status == .done && read.status == .done && cut.status == .partlyDone)
        let words = [clear, read, cut].map { report in
            report.lines(on: .standardOutput([:])).filter { $0.contains("in the store") }
        }
        #expect(words.map(\.count) == [0, 1, 1], "\(words)")
        #expect(words[1].allSatisfy { $0.hasPrefix("2 objects in the store to be read once") }, "\(words)")
        #expect(words[2].allSatisfy { $0.hasPrefix("1 object in the store may be cut") }, "\(words)")
    }

    @Test func `a machine is named by its name, and by its id where another one has that name`() {
        let lines = advice(["tower", "laptop", "laptop"])
        #expect(lines.count == 3)
        for (line, name) in zip(lines, ["tower", "id-1", "id-2"]) {
            #expect(line.hasSuffix("sync-agent rebuild --machine \(name)"), "\(line)")
        }
    }
}
