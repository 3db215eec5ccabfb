import FoundationEssentials
import SyncEngine
import SyncLedger
import Testing

/// Two machines of one name: nobody knows by it whose place is to be taken.
struct SharedNameTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    /// - Returns: its id.
    private func add(_ name: String, _ photo: String) async throws -> String {
        let machine = try bench.machine(name)
        try await machine.see(["\(photo).jpg": photo])
        try await machine.write()
        return try machine.ledger.catalogStatus().machine
    }

    @Test(arguments: ["laptop", nil])
    func `a name that two machines have takes the place of neither, and both are told with their signs of life`(
        named: String?
    ) async throws {
        let ids = [try await add("laptop", "a"), try await add("laptop", "b")]
        let machine = try bench.machine(named == nil ? "laptop" : "tower")
        let error = await #expect(throws: LedgerRebuild.SharedName.self) {
            try await machine.rebuild(inPlaceOf: named)
        }
        let shared = try #require(error)
        #expect(shared.name == "laptop" && Set(shared.candidates.map(\.id)) == Set(ids))
        #expect(shared.candidates.allSatisfy { $0.lastSign != nil })
        for id in ids { #expect("\(shared)".contains("\(id) (last sign of life ")) }
        #expect("\(shared)".contains("sync-agent rebuild --machine ID"))
        #expect(try machine.known().isEmpty)
        #expect(try machine.ledger.catalogStatus().rebuildOf == nil)
        // Its id names one of them.
        let summary = try await machine.rebuild(inPlaceOf: ids[1])
        #expect(summary.machines.first { $0.id == ids[1] }?.role == .takenOver)
        #expect(summary.machines.first { $0.id == ids[0] }?.role == .other)
    }

    @Test func `a machine that another one goes on for does not share its name`() async throws {
        _ = try await add("laptop", "a")
        let next = try bench.machine("laptop")
        try await next.rebuild()
        try await next.write()
        let summary = try await bench.machine("tower").rebuild(inPlaceOf: "laptop")
        let id = try next.ledger.catalogStatus().machine
        #expect(summary.machines.filter { $0.role == .takenOver }.map(\.id) == [id])
    }
}
