import FoundationEssentials
import Logging
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct DiskLooksTests {
    private let bench: Bench
    private let looks: DiskLooks
    private let lines = Mutex<[String]>([])

    init() throws {
        bench = try Bench()
        looks = DiskLooks(time: bench.time.source)
    }

    private var service: DiskLookService {
        let lines = lines
        return DiskLookService(
            looks, ledger: LedgerQueue(bench.ledger), patience: bench.patience, time: bench.time.source,
            logger: Logger(label: "test") { _ in LineRecorder(lines: lines) })
    }

    private func problem(of index: Int) throws -> String? { try bench.ledger.overview().folders[index].record.problem }

    @Test func `a folder that cannot be looked at for minutes is not called safe, and is told once`() async throws {
        let (service, folder) = (service, bench.folders[0])
        looks.begin(folder)
        await bench.time.advance(by: DiskLooks.patience - .seconds(1))
        try await service.tell()
        #expect(try problem(of: 0) == nil)
        await bench.time.advance(by: .seconds(1))
        for _ in 0..<2 { try await service.tell() }
        #expect(try problem(of: 0)?.hasPrefix("\(Bench.gallery): it could not be looked at since ") == true)
        #expect(try !bench.ledger.isAllWell(bench.ledger.overview(), .ana, at: bench.time.now))
        #expect(lines.withLock { $0.count } == 1)
        looks.leave()
        #expect(looks.takeHeard().map(\.id) == [folder.id])
        #expect(looks.takeHeard().isEmpty)
        looks.end(folder)
        await bench.time.advance(by: DiskLooks.patience)
        #expect(looks.silence() == nil)
    }

    @Test func `the folder that holds up the others is the one that is told`() async {
        looks.begin(bench.folders[1])
        looks.note(bench.folders[1])
        looks.begin(bench.folders[0])
        await bench.time.advance(by: DiskLooks.patience - .seconds(1))
        // It comes on: that is none.
        looks.note(bench.folders[1])
        await bench.time.advance(by: DiskLooks.patience - .seconds(1))
        #expect(looks.silence() == nil)
        await bench.time.advance(by: .seconds(1))
        #expect(looks.silence()?.folder.id == bench.folders[1].id)
        looks.leave()
        looks.end(bench.folders[1])
        // The next one has its time.
        #expect(looks.silence() == nil)
        await bench.time.advance(by: DiskLooks.patience)
        #expect(looks.silence()?.folder.id == bench.folders[0].id)
    }

    @Test func `a pass that has seen a part of a folder which answers again looks at all of it`() async throws {
        let (service, folder, trip) = (service, bench.folders[0], Bench.gallery.appending("trip"))
        bench.disk.write("sunset", to: trip.appending("a.jpg"))
        looks.begin(folder)
        await bench.time.advance(by: DiskLooks.patience)
        try await service.tell()
        #expect(try problem(of: 0) != nil)
        looks.leave()
        looks.end(folder)
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk,
            pool: BlockingPool(name: "pass", threads: 1), settle: .zero, looks: looks, time: bench.time.source)
        #expect(try await pass.takeIn(only: trip).queued == 1)
        #expect(try problem(of: 0) == nil)
        #expect(looks.takeHeard().isEmpty)
    }
}

/// Keeps what is logged.
private struct LineRecorder: LogHandler {
    let lines: Mutex<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level): \(event.message)") }
    }
}
