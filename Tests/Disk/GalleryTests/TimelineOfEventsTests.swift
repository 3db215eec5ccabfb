import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Photos of events in the stream of all photos.
@Suite struct TimelineOfEventsTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private func names(_ filter: TimelineFilter) throws -> [String] {
        try bench.ledger.timeline(filter, after: nil, limit: 20).map {
            switch $0.source {
            case .photo(let photo), .version(_, of: let photo): photo.relativePath.string
            case .event(let picture): picture.eventID
            }
        }.sorted()
    }

    @Test func `they are found by profile and type, and the archived ones stand alone, too`() async throws {
        try bench.write(bench.event("old", age: 91, profile: "p1", photo: try RetentionBench.photo(1)), to: "one.json")
        try bench.write(bench.event("new", age: 2, profile: "p2", photo: try RetentionBench.photo(2)), to: "two.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try names(TimelineFilter()) == ["new", "old"])
        #expect(try names(TimelineFilter(kind: .events)) == ["new", "old"])
        #expect(try names(TimelineFilter(kind: .memories)) == ["old"])
        #expect(try names(TimelineFilter(profile: "p2")) == ["new"])
        #expect(try names(TimelineFilter(kind: .memories, profile: "p2")) == [])
        #expect(try names(TimelineFilter(eventType: "taskResponse")) == ["new", "old"])
        #expect(try names(TimelineFilter(eventType: "other")) == [])
        #expect(try bench.ledger.timelineProfiles() == ["p1", "p2"])
        #expect(try bench.ledger.timelineTypes() == ["taskResponse"])
        let months = try (1...12).filter { try !names(TimelineFilter(month: $0)).isEmpty }
        #expect(!months.isEmpty && months.count <= 2)
    }

    @Test func `a photo that lies beside its event's file is shown once`() async throws {
        try bench.tree.write(try RetentionBench.jpeg(1), to: "gallery/one.jpg")
        try bench.write(bench.event("e1", age: 2, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        #expect(try names(TimelineFilter()) == ["one.jpg"])
        #expect(try names(TimelineFilter(kind: .gallery)) == ["one.jpg"])
        #expect(try names(TimelineFilter(kind: .events)) == ["e1"])
        #expect(try names(TimelineFilter(profile: "p1")) == ["e1"])
        // Archived, it has an object of its own.
        await bench.time.advance(by: .seconds(100 * 86_400))
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try names(TimelineFilter()) == ["one.jpg"])
        #expect(try names(TimelineFilter(kind: .memories)) == ["e1"])
    }
}
