import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

/// What the agent looks for again soon, whether anybody has written to the ledger or not.
extension RestoreDownloaderTests {
    private var service: RestoreService {
        let (queue, logger) = (LedgerQueue(ledger), Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let sender = RestoreSender(store: store, ledger: queue, owner: owner, time: time.source)
        return RestoreService(
            poller: RestorePoller(
                store: store, ledger: queue, sender: sender, interval: .seconds(900), time: time.source),
            downloader: delivery,
            announcer: RestoreAnnouncer(
                ledger: queue, notifiers: Notifiers([], logger: logger), time: time.source),
            patience: LedgerPatience(ledger: queue, time: time.source, logger: logger), time: time.source,
            logger: logger)
    }

    @Test func `what another process has in hand is looked for until it is saved`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        let gate = Gate()
        store.add(StoreFault(.get, number: 1, .hold(gate)))
        let delivery = delivery
        async let first = delivery.run()
        await gate.waitForArrivals(1)
        let service = service
        var rounds = RestoreService.Rounds()
        let saved = try await service.round(of: job, &rounds).saved
        #expect(saved.saved == 0 && saved.problems == [])
        #expect(rounds.isAnyLeft)
        gate.open()
        #expect(try await first.saved == 1)
        _ = try await service.round(of: job, &rounds)
        #expect(!rounds.isAnyLeft)
    }

    @Test func `what could not be saved is looked for again, by the clock`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        try tree.write("precious", to: "out/1.jpg")
        var rounds = RestoreService.Rounds()
        for _ in 0..<2 {
            _ = try await service.round(of: job, &rounds)
            #expect(rounds.unsaved[job]?.count == 1 && rounds.isAnyLeft)
        }
    }
}
