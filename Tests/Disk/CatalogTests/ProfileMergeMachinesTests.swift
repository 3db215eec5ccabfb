import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Two machines of a user that merge profiles over one store.
@Suite struct ProfileMergeMachinesTests {
    private let world: MergingWorld
    private let laptop: MergingMachine
    private let desktop: MergingMachine

    init() throws {
        world = MergingWorld(try CatalogBench())
        laptop = try MergingMachine("laptop", in: world)
        desktop = try MergingMachine("desktop", in: world)
    }

    /// In parts: each trial reads the catalogues of all those before it in its store.
    @Test(arguments: 1...8)
    func `opposite merges, interleaved at their requests, lose no photo, and one of them comes to its end`(part: Int)
        async throws
    {
        let trial = try await world.trial()
        #expect(await laptop.outcome(trial.a, into: trial.b) == nil)
        let all = laptop.store.calls.count
        #expect(all > 15)
        for first in stride(from: part, through: all, by: 8) {
            for second in stride(from: 1 + first % 3, through: all, by: 3) { try await interleave(first, second) }
        }
    }

    /// The one machine stops at a request, the other one at one of its own; then the first goes on to its end, and the other.
    private func interleave(_ first: Int, _ second: Int) async throws {
        let (trial, when) = (try await world.trial(), "stopped at \(first) and \(second)")
        let gates = (Gate(), Gate())
        async let one = laptop.outcome(trial.a, into: trial.b, stopping: first, at: gates.0)
        await gates.0.waitForArrivals(1)
        async let two = desktop.outcome(trial.b, into: trial.a, stopping: second, at: gates.1)
        await gates.1.waitForArrivals(1)
        gates.0.open()
        let done = await [one]
        gates.1.open()
        let merged = (done + [await two]).count { $0 == nil }
        #expect(world.lacks(trial).isEmpty, "\(when)")
        #expect(merged <= 1, "\(when)")

        // Whoever did not get to it does as the other one; where both gave way, either may.
        let isLaptops = try laptop.ledger.mergedProfile(trial.a) == trial.b
        let (from, into) = isLaptops ? (trial.a, trial.b) : (trial.b, trial.a)
        for machine in isLaptops ? [laptop, desktop] : [desktop, laptop] {
            let problem = await machine.outcome(from, into: into)
            #expect(problem == nil, "\(when), again")
        }
        #expect(world.lacks(trial).isEmpty, "\(when), again")
        #expect(world.profiles(trial) == [into], "\(when), again")
    }

    @Test func `a merge that was killed before it began gives way, and one that had begun does not`() async throws {
        let trial = try await world.trial()
        try laptop.ledger.announceMerge(of: trial.a, into: trial.b)
        try await laptop.publish()
        #expect(await desktop.outcome(trial.b, into: trial.a)?.contains("the machine laptop is about to merge") == true)
        // What both have announced neither has begun.
        try desktop.ledger.announceMerge(of: trial.b, into: trial.a)
        try await desktop.publish()
        #expect(await laptop.outcome(trial.a, into: trial.b)?.contains("desktop") == true)
        #expect(await desktop.outcome(trial.b, into: trial.a) == nil)
        #expect(await laptop.outcome(trial.a, into: trial.b)?.contains("the machine desktop has merged") == true)
        #expect(world.lacks(trial).isEmpty && world.profiles(trial) == [trial.a])
    }

    @Test func `what another machine merges has to be read, and this one's has to be told`() async throws {
        let trial = try await world.trial()
        try laptop.ledger.renameProfile(trial.a, to: "Grandma")
        try await laptop.publish()
        let quiet = await desktop.outcome(trial.b, into: trial.a, keepsCatalog: false)
        #expect(quiet?.contains("store.catalog: off") == true)
        #expect(await laptop.outcome(trial.a, into: trial.b) == nil)
        let machine = try laptop.ledger.catalogStatus().machine
        let segment = try #require(
            world.memory.keys.last { CatalogSegment($0, world.bench.keys)?.machine == machine })
        world.memory.damage(segment)
        let other = try await world.trial()
        #expect(await desktop.outcome(other.b, into: other.a)?.contains("cannot be read") == true)
        #expect(world.lacks(other).isEmpty && world.profiles(other) == [other.a, other.b])
    }
}

/// A store with photos of pairs of profiles, both of which have an event.
final class MergingWorld: Sendable {
    struct Trial: Sendable {
        let a: String
        let b: String
        let texts: Set<String>
    }

    let bench: CatalogBench
    let memory: InMemoryStore
    private let count = Lock(0)

    init(_ bench: CatalogBench) {
        self.bench = bench
        memory = bench.memory
    }

    func trial() async throws -> Trial {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let (a, b) = ("a\(number)", "b\(number)")
        let photos = [(a, "both"), (b, "both"), (a, "one"), (b, "other")].map { ($0, "\($1) \(number)") }
        let month = CalendarDay(Date(timeIntervalSince1970: 1_741_593_600))
        for (profile, text) in photos {
            let bytes = Array(text.utf8)
            let event = text.replacing(" ", with: "-")
            _ = try await memory.put(
                ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)),
                at: try bench.keys.archivedPhoto(profile: profile, month: month, event: event),
                attributes: ObjectAttributes(
                    contentType: "image/jpeg",
                    metadata: [
                        MetadataName.profile: profile, MetadataName.eventID: event,
                        MetadataName.originalCreatedAt: "2025-03-10T08:00:00Z",
                        MetadataName.sha256: "\(SHA256Digest(of: bytes))",
                    ]),
                condition: .ifAbsent)
        }
        return Trial(a: a, b: b, texts: Set(photos.map(\.1)))
    }

    private func archived(_ trial: Trial) -> [ArchivedPhotoPlace] {
        memory.keys.compactMap { ArchivedPhotoPlace($0, of: bench.keys) }.filter {
            [trial.a, trial.b].contains($0.profile)
        }
    }

    /// Photos that are not there any more.
    func lacks(_ trial: Trial) -> Set<String> {
        let found = archived(trial).compactMap { memory.content($0.key).map { String(decoding: $0, as: UTF8.self) } }
        return trial.texts.subtracting(found)
    }

    /// Those that keys have.
    func profiles(_ trial: Trial) -> Set<String> { Set(archived(trial).map(\.profile)) }
}

/// A machine with a ledger of its own, that keeps a catalogue.
final class MergingMachine: Sendable {
    private struct Untold: Error {}

    let world: MergingWorld
    let name: String
    let ledger: Ledger
    let store: FaultyStore
    private let writer: CatalogWriter
    private let others: OtherMerges
    /// How many requests there are until one stops, and where.
    private let stop: Lock<(left: Int, gate: Gate)>

    init(_ name: String, in world: MergingWorld) throws {
        (self.world, self.name) = (world, name)
        ledger = try Ledger.inMemory()
        let (bench, stop) = (world.bench, Lock((left: 0, gate: Gate())))
        self.stop = stop
        store = FaultyStore(world.memory) { _ in
            stop.withLock { stop in
                stop.left -= 1
                return stop.left == 0 ? [.hold(stop.gate)] : []
            }
        }
        writer = CatalogWriter(
            store: store, ledger: LedgerQueue(ledger), keys: bench.keys, name: name,
            spool: bench.tree.path("\(name).part"), pool: bench.pool, time: bench.time.source,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        others = OtherMerges(
            store: store, ledger: LedgerQueue(ledger), keys: bench.keys, spool: bench.tree.path("\(name)-merges.part"),
            pool: bench.pool, time: bench.time.source)
    }

    func publish() async throws {
        if case .failed = try await writer.run() { throw Untold() }
    }

    private func merge(_ from: String, into other: String, _ keepsCatalog: Bool) async throws -> ProfileMerge.Summary {
        let merge = ProfileMerge(
            store: store, ledger: LedgerQueue(ledger), keys: world.bench.keys,
            book: ProfileBook(
                try ledger.profiles(), notes: try ledger.profileNotes(), phones: KnownPhones(), region: nil,
                pseudonyms: try Pseudonyms(ledger)),
            agreement: MergeAgreement(
                others: { [others] in try await others.all(tells: keepsCatalog) },
                publish: { [self] in if keepsCatalog { try await publish() } }),
            time: world.bench.time.source)
        let summary = try await merge.run(from, into: other, isDryRun: false)
        try await writer.run()
        return summary
    }

    /// Why a merge did not come to its end.
    /// - Parameters:
    ///   - number: the request that stops.
    ///   - gate: where it stops; one that it did not come to is passed at the end.
    func outcome(
        _ from: String, into other: String, keepsCatalog: Bool = true, stopping number: Int = 0, at gate: Gate = Gate()
    ) async -> String? {
        stop.withLock { $0 = (number, gate) }
        var problem: String?
        do {
            let summary = try await merge(from, into: other, keepsCatalog)
            if !summary.left.isEmpty { problem = "\(summary.left)" }
        } catch {
            problem = "\(error)"
        }
        if gate.arrivals == 0 {
            gate.open()
            await gate.pass()
        }
        return problem
    }
}
