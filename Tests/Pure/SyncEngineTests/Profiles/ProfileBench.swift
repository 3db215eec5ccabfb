import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// A ledger, an archive, and what changes whose the photos in it are.
struct ProfileBench {
    static let phone = PhoneNumber(e164: "+17788143739")
    static let uuid = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
    static let created = "2025-03-10T08:00:00Z"

    let bench: Bench
    let archive: ArchiveBench
    let queue: LedgerQueue

    init() throws {
        bench = try Bench()
        archive = try ArchiveBench()
        queue = LedgerQueue(bench.ledger)
    }

    var ledger: Ledger { bench.ledger }
    var keys: Set<String> { Set(archive.memory.keys.map(\.rawValue)) }

    static func key(_ profile: String, _ event: String) -> String {
        "gallery-archive/ana/\(profile)/2025/03/\(event).jpg"
    }

    func addProfile() throws {
        _ = try ledger.addProfile(uuid: Self.uuid, phone: Self.phone, name: "Grandma", at: bench.time.now)
    }

    func book() throws -> ProfileBook {
        ProfileBook(
            try ledger.profiles(), notes: try ledger.profileNotes(), phones: KnownPhones(), region: "CA",
            pseudonyms: try Pseudonyms(ledger))
    }

    /// Nobody waits for a second try.
    var time: TimeSource {
        TimeSource(now: bench.time.source.now, monotonic: { .zero }, sleep: { _ in }, random: { 0 })
    }

    /// Events `e0`, `e1`, … of these profiles, which are taken in.
    func write(_ profiles: [String]) async throws {
        let events = profiles.enumerated().map { index, profile in
            #"{"id":"e\#(index)","profileId":"\#(profile)","eventType":"taskResponse","createdAt":1700000000}"#
        }
        bench.disk.write("[" + events.joined(separator: ",") + "]", to: Bench.gallery.appending("events.json"))
        try await bench.pass()
    }

    func merge(
        _ from: String = "grandma", into other: String = uuid, isDryRun: Bool = false,
        agreement: MergeAgreement = MergeAgreement(others: { [] }, publish: {})
    ) async throws -> ProfileMerge.Summary {
        let merge = ProfileMerge(
            store: archive.store, ledger: queue, keys: archive.keys, book: try book(), agreement: agreement,
            time: time)
        return try await merge.run(from, into: other, isDryRun: isDryRun)
    }

    func migrate(isDryRun: Bool = false, in store: (any ObjectStore)? = nil) async throws -> ProfileMigration.Summary {
        try await ProfileMigration(
            store: store ?? archive.store, ledger: queue, keys: archive.keys, book: try book(), time: time
        ).run(isDryRun: isDryRun)
    }
}
