import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Stored copies that somebody puts back into watched folders. The copy of `sunset` is `SUNSET`.
@Suite struct RestoredCopyTests {
    private func key(_ text: String) throws -> ObjectKey {
        try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array(text.utf8)).md5))
    }

    @Test(arguments: [Bench.gallery.appending("a.jpg"), Bench.vacations.appending("Paris").appending("b.jpg")])
    func `a stored copy in the place of its photo is that photo: nothing is encoded or sent`(
        file: FilePath
    ) async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: file)
        try await bench.pass()
        bench.disk.remove(file)
        try bench.scan()
        bench.disk.write("SUNSET", to: file)
        try await bench.pass()
        #expect(try bench.status(file)?.state == .uploaded)
        #expect(try bench.status(file)?.key == key("sunset"))
        #expect(bench.memory.keys == [try key("sunset")])
        #expect(bench.store.count(.put) == 1)
        #expect(bench.disk.reduced.count == 1)
        #expect(bench.events.summary.alreadyStored == 1)
    }

    @Test func `a stored copy under another name is a second name of its photo`() async throws {
        let bench = try Bench()
        let (photo, copy) = (Bench.gallery.appending("a.jpg"), Bench.gallery.appending("restored.jpg"))
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.write("SUNSET", to: copy)
        try await bench.pass()
        #expect(try bench.states() == [photo.string: .uploaded, copy.string: .uploaded])
        #expect(try bench.status(copy)?.key == key("sunset"))
        #expect(bench.store.count(.put) == 1)
    }

    @Test func `a stored image of a project in the place of its original is no new version`() async throws {
        let bench = try Bench()
        let file = Bench.projects.appending("p1.jpg")
        bench.disk.write("image", to: file)
        try await bench.pass()
        bench.disk.write("IMAGE", to: file)
        try await bench.pass()
        #expect(try bench.status(file)?.state == .uploaded)
        #expect(bench.store.count(.put) == 1)
    }

    @Test func `a copy whose object the store has lost is stored as a photo of its own`() async throws {
        let bench = try Bench()
        let file = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: file)
        try await bench.pass()
        try await bench.memory.delete(key("sunset"))
        bench.disk.write("SUNSET", to: file)
        try await bench.pass()
        #expect(try bench.status(file)?.state == .uploaded)
        #expect(bench.memory.keys == [try key("SUNSET")])
    }

    @Test func `a vacation of restored copies is the one that is stored`() async throws {
        let bench = try Bench()
        let folder = Bench.vacations.appending("Rome_2024-05-01_2024-05-03")
        bench.disk.write("sunset", to: folder.appending("1.jpg"))
        try await bench.pass()
        let vacation = try #require(try bench.ledger.vacations().first).id
        let photos = try bench.ledger.vacationContent(vacation)?.photos.map(\.md5)
        bench.disk.write("SUNSET", to: folder.appending("1.jpg"))
        try await bench.pass()
        #expect(try bench.ledger.vacationContent(vacation)?.photos.map(\.md5) == photos)
    }
}
