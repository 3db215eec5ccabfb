import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct VacationDenialTests {
    @Test func `vacations that the store denied come last in the next round, so that the others are stored`()
        async throws
    {
        let machine = try VacationMachine()
        for number in 10..<40 {
            let folder = FilePath("Lyon\(number)_France_2024-06-15_2024-06-22")
            machine.disk.write("photo \(number)", to: VacationMachine.root.pushing(folder).appending("1.jpg"))
        }
        try machine.store()
        let keeper = VacationManifestSync(
            ledger: machine.queue, store: FaultyStore.denying(first: 25, .put, of: machine.memory), keys: .ana,
            pool: BlockingPool(name: "test", threads: 1), descriptions: machine.descriptions.source,
            time: machine.time.source)
        await #expect(throws: StoreError.self) { try await keeper.run() }
        let second = try await keeper.run()
        #expect(second.stored == 5 && second.failures.count == 25)
        #expect(try await machine.makeKeeper().run().stored == 25)
        #expect(try machine.ledger.denials(of: .vacations) == [:])
    }

    @Test func `a pass is told that the store as a whole is away, and the service waits`() async throws {
        let machine = try VacationMachine()
        machine.disk.write("photo", to: VacationMachine.paris.appending("1.jpg"))
        try machine.store()
        machine.store.add(StoreFault(.put, numbers: 1...2, .failBefore(.unreachable)))
        let service = try machine.makeService()
        await #expect(throws: StoreError.self) { try await service.round() }
        let id = try #require(try machine.ledger.vacations().first?.id)
        try await service.round(of: id)
        #expect(machine.manifests == [])
        try await service.round()
        #expect(machine.manifests.count == 1)
    }
}
