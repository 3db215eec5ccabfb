import Testing

@testable import SyncCLI

@Suite struct RebuildReportTests {
    private func advice(_ names: [String]) -> [String] {
        let machines = names.enumerated().map { index, name in
            RebuildReport.Machine(
                id: "id-\(index)", name: name, role: "other", writtenAt: nil, path: "machines/\(index)")
        }
        let report = RebuildReport(
            photos: 1, fromCatalog: 1, recovered: 0, vacations: 0, shares: 0, requests: 1, machines: machines, lost: 0,
            unsaved: 0, unclear: 0, problems: [], setAside: nil)
        return report.lines(on: .standardOutput([:])).filter { $0.contains("rebuild --machine") }
    }

    @Test func `a machine is named by its name, and by its id where another one has that name`() {
        let lines = advice(["tower", "laptop", "laptop"])
        #expect(lines.count == 3)
        for (line, name) in zip(lines, ["tower", "id-1", "id-2"]) {
            #expect(line.hasSuffix("sync-agent rebuild --machine \(name)"), "\(line)")
        }
    }
}
