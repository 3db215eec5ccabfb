import Foundation
import Logging
import SyncCore
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct EventFolderTests {
    private let tree: TemporaryTree
    private let memory = InMemoryStore()
    private let store: FaultyStore
    private let time = Self.makeTime()
    private let ledger: Ledger
    private let gallery: FilePath

    init() throws {
        tree = try TemporaryTree()
        store = FaultyStore(memory)
        gallery = try tree.makeFolder("gallery")
        ledger = try Ledger(at: tree.path("state/ledger.sqlite"))
    }

    private func pass() async throws {
        let scanner = FileTreeScanner()
        let scan = FolderScan(ledger: ledger, scanner: scanner, settle: .zero)
        for folder in try ledger.register([WatchedFolder(kind: .gallery, path: gallery)]) {
            _ = try scan.run(folder, from: folder.path, at: time.now())
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let preparer = Preparer(
            ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(),
            planner: UploadPlanner(keys: try KeyLayout(user: "ana")), policy: ReducePolicy(), settle: .zero,
            now: time.now)
        let pipeline = PhotoPipeline(
            ledger: LedgerQueue(ledger), store: store, preparer: preparer, pool: BlockingPool(name: "test", threads: 2),
            batchSize: 3, work: Wakeup(), time: time, logger: logger, observe: { _ in })
        try await pipeline.run(.untilDone(patience: .seconds(3_600)))
    }

    /// A clock on which every wait is over at once: what comes due again need not be waited for.
    private static func makeTime() -> TimeSource {
        let elapsed = Lock(Duration.zero)
        let start = Date()
        return TimeSource(
            now: { start.addingTimeInterval(elapsed.withLock { $0 } / .seconds(1)) },
            monotonic: { elapsed.withLock { $0 } },
            sleep: { duration in
                try Task.checkCancellation()
                elapsed.withLock { $0 += duration }
            }, random: { 0.5 })
    }

    private static func fixture(_ name: String) throws -> [UInt8] {
        let folder = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("PhotoFixtures")
        return Array(try Data(contentsOf: URL(filePath: folder.appending(name).string)))
    }

    private func write(_ events: GeneratedEvents) throws {
        for file in events.files { try tree.write(file.bytes, to: "gallery/\(file.path)") }
    }

    @Test func `two thousand mixed events give exact counts, and no text leaves the folder`() async throws {
        let events = GeneratedEvents(seed: 20_251_020, count: 2_000, photo: try Self.fixture("size-16x16.jpg"))
        try write(events)
        try await pass()

        let expected = events.expected
        #expect(events.texts.allSatisfy { $0.hasPrefix(GeneratedEvents.mark) })
        let counts = try ledger.eventCounts()
        #expect(counts.photos == [.stored: expected.photos, EventPhotoState.none: expected.events - expected.photos])
        #expect(memory.keys.count == expected.photos)
        #expect(store.count(.put) == expected.photos)
        var malformed = 0
        try ledger.photos(at: gallery) { photo in
            let words = (photo.note ?? "").split(separator: " ")
            malformed += words.firstIndex(of: "malformed:").flatMap { Int(words[$0 - 1]) } ?? 0
        }
        #expect(malformed == expected.malformed)

        try await pass()
        #expect(store.count(.put) == expected.photos)
        #expect(try ledger.check() == [])

        for name in try tree.files(below: "state") {
            // All texts begin so, and nothing else does.
            let bytes = Data(try tree.read("state/\(name)"))
            #expect(bytes.range(of: Data(GeneratedEvents.mark.utf8)) == nil, "\(name)")
        }
        for key in memory.keys {
            let bytes = try #require(memory.content(key))
            #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2) == [0xFF, 0xD9])
        }
    }
}
