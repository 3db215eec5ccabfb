import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct VacationServiceTests {
    private let paris = VacationMachine.paris
    private let lines = LogLines(from: .warning)

    @Test func `a folder that is being filled is stored once it is quiet`() async throws {
        let machine = try VacationMachine()
        machine.disk.write("photo 1", to: paris.appending("1.jpg"))
        try machine.store()
        let service = try machine.makeService()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await machine.time.waitForSleepers()
            machine.disk.write("photo 2", to: paris.appending("2.jpg"))
            try machine.store()
            await machine.time.advance(by: .seconds(10))
            await machine.time.waitForSleepers()
            #expect(machine.manifests == [])
            await machine.time.advance(by: .seconds(10))
            await machine.time.waitForSleepers()
            #expect(machine.manifests == ["Paris_France_2024-06-15_2024-06-22_2.json"])
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(machine.store.count(.put) == 1)
    }

    @Test func `a signal wakes it, and without one it looks now and then`() async throws {
        let machine = try VacationMachine()
        let service = try machine.makeService()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await machine.time.waitForSleepers()
            for name in ["1.jpg", "2.jpg"] { machine.disk.write("photo \(name)", to: paris.appending(name)) }
            try machine.store()
            machine.work.signal()
            try await eventually("its second wait") { machine.time.sleeps.count >= 2 ? () : nil }
            #expect(machine.time.sleeps == [.seconds(60), .seconds(10)])
            await machine.time.waitForSleepers()
            await machine.time.advance(by: .seconds(10))
            await machine.time.waitForSleepers()
            #expect(machine.manifests.count == 1)
            machine.disk.remove(paris.appending("1.jpg"))
            try machine.store()
            await machine.time.advance(by: .seconds(60))
            await machine.time.waitForSleepers()
            #expect(machine.time.sleeps.last == .seconds(10))
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `while the store is away it asks less and less, and tells it once`() async throws {
        let machine = try VacationMachine()
        machine.disk.write("photo 1", to: paris.appending("1.jpg"))
        try machine.store()
        machine.store.add(StoreFault(.get, numbers: 1...6, .failBefore(.unreachable)))
        let service = try machine.makeService(lines.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            for _ in 0..<8 {
                await machine.time.waitForSleepers()
                await machine.time.advance(by: .seconds(300))
            }
            await machine.time.waitForSleepers()
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(machine.manifests.count == 1)
        #expect(lines.all.count == 1)
        #expect(machine.time.sleeps[5] > machine.time.sleeps[1])
    }
}
