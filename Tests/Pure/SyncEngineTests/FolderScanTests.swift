import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FolderScanTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test func `an empty root with known files keeps its state and says so`() async throws {
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("dawn", to: Bench.gallery.appending("2024").appending("b.jpg"))
        try await bench.pass()
        bench.disk.setMounted(false)
        let result = try bench.scan()[0]
        #expect(result.missing == 0)
        #expect(result.problems.first?.message.contains("Is its drive mounted?") == true)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `a file that was deleted is missing, and comes back without an upload`() async throws {
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        bench.disk.write("dawn", to: Bench.gallery.appending("b.jpg"))
        try await bench.pass()
        bench.disk.remove(path)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try bench.status(path)?.state == .missing)
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.store.count(.put) == 2)
        #expect(bench.memory.keys.count == 2)
    }

    @Test func `a folder that cannot be read says nothing about its photos`() async throws {
        let trip = Bench.vacations.appending("Paris")
        bench.disk.write("beach", to: trip.appending("day 1").appending("a.jpg"))
        bench.disk.write("tower", to: Bench.vacations.appending("b.jpg"))
        try await bench.pass()
        bench.disk.setUnreadable(trip)
        bench.disk.remove(trip.appending("day 1").appending("a.jpg"))
        let result = try bench.scan()[1]
        #expect(result.problems.map(\.code) == [.denied])
        #expect(try bench.status(trip.appending("day 1").appending("a.jpg"))?.state == .uploaded)
    }

    @Test func `a folder that vanished takes its photos along`() async throws {
        bench.disk.write("beach", to: Bench.vacations.appending("Paris").appending("a.jpg"))
        bench.disk.write("tower", to: Bench.vacations.appending("b.jpg"))
        try await bench.pass()
        bench.disk.remove(Bench.vacations.appending("Paris").appending("a.jpg"))
        #expect(try bench.scan()[1].missing == 1)
    }

    @Test func `a file that was just written is handed back with its age`() throws {
        let now = Int64(bench.time.now.timeIntervalSince1970)
        bench.disk.write("fresh", to: Bench.gallery.appending("a.jpg"), modifiedSeconds: now - 1)
        bench.disk.write("from the future", to: Bench.gallery.appending("b.jpg"), modifiedSeconds: now + 3_600)
        let result = try bench.scan()[0]
        #expect(result.unsettled.map(\.file) == [Bench.gallery.appending("a.jpg")])
        #expect(result.unsettled.map(\.age) == [.seconds(1)])
        #expect(result.queued == 1)
    }
}
