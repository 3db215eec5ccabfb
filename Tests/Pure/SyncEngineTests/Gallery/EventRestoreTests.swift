import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct EventRestoreTests {
    private static let places = RestoreSelection.Places(
        workingFolder: Bench.gallery, vacationRoots: [], candidates: { [$0] })

    private func event(_ id: String, _ photo: String?) -> String {
        let data = photo.map { #","photoData":"\#(Data($0.utf8).base64EncodedString())""# } ?? ""
        return #"{"id":"\#(id)","profileId":"p","eventType":"taskResponse","createdAt":1760948130\#(data)}"#
    }

    private func select(_ name: String, events: [String]) async throws -> RestoreSelection {
        let bench = try Bench()
        bench.disk.write("[\(events.joined(separator: ","))]", to: Bench.gallery.pushing("june/day.json"))
        try await bench.pass()
        let queue = LedgerQueue(bench.ledger)
        return try await RestoreSelection(of: [name], in: Self.places, ledger: queue, store: bench.store)
    }

    @Test func `the photo of one event is saved under a photo's name`() async throws {
        let selection = try await select("june/day.json", events: [event("e1", "sunset"), event("e2", nil)])
        #expect(selection.objects.map(\.destination) == ["day.jpg"])
        #expect(selection.objects.map(\.path) == [Bench.gallery.pushing("june/day.json")])
        #expect(selection.problems == [])
    }

    @Test(arguments: ["june/day.json", "june/*.json"])
    func `a file of events brings back all of their photos, each once`(name: String) async throws {
        let selection = try await select(
            name, events: [event("e1", "sunset"), event("e2", "beach"), event("e3", "sunset")])
        #expect(selection.objects.map(\.destination) == ["day-1.jpg", "day-2.jpg"])
        #expect(Set(selection.objects.map(\.record.key)).count == 2)
    }

    @Test func `in an album the photos of events lie where their file does`() async throws {
        let selection = try await select("june", events: [event("e1", "sunset"), event("e2", "beach")])
        #expect(selection.objects.map(\.destination) == ["june/day-1.jpg", "june/day-2.jpg"])
    }

    @Test func `a file that is in the queue again, all of its photos stored, is no problem`() async throws {
        let bench = try Bench()
        let file = Bench.gallery.pushing("june/day.json")
        bench.disk.write("[\(event("e1", "sunset")),\(event("e2", nil))]", to: file)
        try await bench.pass()
        bench.disk.write("[\(event("e1", "sunset"))]", to: file)
        try bench.scan()
        #expect(try bench.status(file)?.object == nil)
        let queue = LedgerQueue(bench.ledger)
        let selection = try await RestoreSelection(
            of: ["june/day.json"], in: Self.places, ledger: queue, store: bench.store)
        #expect(selection.objects.map(\.destination) == ["day.jpg"])
        #expect(selection.problems == [])
    }

    @Test func `what is stored of a file comes back, and what is not is told`() async throws {
        let selection = try await select("june/day.json", events: [event("e1", "broken"), event("e2", "beach")])
        #expect(selection.objects.map(\.destination) == ["day.jpg"])
        #expect(
            selection.problems.map(\.reason) == [
                .notStored("2 events, 1 photo stored, 1 failed: #1 e1: Premature end of JPEG file")
            ])
    }
}
