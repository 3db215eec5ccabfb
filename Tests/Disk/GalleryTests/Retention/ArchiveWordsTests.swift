import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// What of an event's own words gets into the store.
@Suite struct ArchiveWordsTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private var archived: [ObjectKey] { bench.memory.keys.filter { $0.rawValue.hasPrefix("gallery-archive/") } }

    /// Whether the store holds so many digits in a row, signs among them left out.
    private func holds(_ digits: String) throws -> Bool {
        for key in bench.memory.keys {
            let values = try #require(bench.memory.info(key)).metadata.values
            for text in values + [key.rawValue] {
                if text.filter({ $0.isASCII && $0.isNumber }).contains(digits) { return true }
            }
        }
        return false
    }

    @Test(arguments: [
        "+4915123777001", "4915123777001", "e-4915123777001-1", "491.5123.777001x", "e4915123777001", "４９１５１２３７７７００１",
        "%2B4915123777001",
    ])
    func `an event whose id may be a number is archived under a pseudonym`(id: String) async throws {
        try bench.write(bench.event(id, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        let pseudonym = try Pseudonyms(bench.ledger).event(id)
        #expect(archived == [try bench.key(pseudonym)])
        #expect(bench.memory.info(try bench.key(pseudonym))?.metadata["event-id"] == pseudonym)
        #expect(try !holds("5123777001"))
        // The same event once more, as after a kill: it is found, and not stored again.
        try bench.write(bench.event(id, photo: try RetentionBench.photo(1)), to: "again.json")
        try await bench.sync()
        _ = try await bench.cleanUp()
        #expect(archived.count == 1)
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: ["user_4915123777001", "k4915123777001z", "oma#4915123777001", "4915123777001_profile"])
    func `a profile in whose id a number may be has a pseudonym in keys, and nobody waits`(profile: String) async throws
    {
        try bench.write(bench.event("e1", profile: profile, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect(summary.archived == 1 && summary.skipped.isEmpty)
        #expect(archived == [try bench.key("e1", profile: try Pseudonyms(bench.ledger).profile(profile))])
        #expect(try !holds("5123777001"))
    }

    @Test func `a user, a type and a title tell no number`() async throws {
        let event = bench.event("e1", photo: try RetentionBench.photo(1))
            .replacing(#""userId": "u1""#, with: #""userId": "u_4915123777001""#)
            .replacing("taskResponse", with: "call-4915123777001")
            .replacing(RetentionBench.title, with: "Call Ana, 0151 / 23 77 70 01, at noon")
        try bench.write(event, to: "one.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        let metadata = try #require(bench.memory.info(try bench.key("e1"))).metadata
        #expect(metadata["user"] == "ana" && metadata["event-type"] == nil)
        #expect(metadata["task-title"]?.hasPrefix("Call Ana, …") == true)
        #expect(metadata["task-title"]?.hasSuffix("at noon") == true)
        #expect(try !holds("23777001") && !holds("5123777001"))
    }

    @Test func `an id made of the clock stays as it is`() async throws {
        let created = Int((bench.start.timeIntervalSince1970 - 91 * 86_400) * 1_000) + 17
        let id = "event_\(created)"
        try bench.write(bench.event(id, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        #expect(archived == [try bench.key(id)])
    }
}
