import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that are deleted or renamed while the agent watches.
struct LocalChangeTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test func `a deleted photo stays stored, and status still finds it by its path`() async throws {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        let before = try #require(try await home.photo(photo))
        try photo.remove()
        let after = try #require(try await home.photos(at: photo) { $0.first?.state == "missing" }.first)
        #expect(after.key == before.key && after.md5 == before.md5 && after.uploadedAt == before.uploadedAt)
        #expect(try home.store.objects().map(\.key) == [try #require(before.key)])
        let overview = try await home.overview()
        #expect(overview.totals.missing == 1 && overview.totals.files == 0)
        #expect(overview.tiers.map(\.objects) == [1])
    }

    @Test func `a deleted folder of photos stays stored`() async throws {
        let agent = try await home.startAgent()
        let trip = home.vacations.appending("Paris")
        for number in 0..<3 { try trip.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        try await agent.stored(atLeast: 3)
        try trip.remove()
        let photos = try await home.photos(at: trip) { $0.allSatisfy { $0.state == "missing" } }
        #expect(photos.count == 3)
        #expect(try home.store.objects().count == 3)
    }

    @Test func `a photo that comes back is known, and is not sent again`() async throws {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        try photo.remove()
        _ = try await home.photos(at: photo) { $0.first?.state == "missing" }
        try photo.create(SamplePhoto.unique(1))
        _ = try await home.photos(at: photo) { $0.first?.state == "uploaded" }
        #expect(agent.outcomes.count { $0.kind == .stored } == 1)
        #expect(try home.store.objects().count == 1)
    }

    @Test func `a renamed photo keeps its upload`() async throws {
        let agent = try await home.startAgent()
        let (old, new) = (home.gallery.appending("a.jpg"), home.gallery.appending("b.jpg"))
        try old.create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        let before = try #require(try await home.photo(old))
        try old.move(to: new)
        #expect(try await agent.outcome(of: new) == .alreadyStored)
        let after = try #require(try await home.photos(at: new) { $0.first?.state == "uploaded" }.first)
        #expect(after.key == before.key && after.uploadedAt == before.uploadedAt)
        try await expectNothingSentBeside(1, agent)
        #expect(try await home.overview().totals.missing == 0)
    }

    @Test func `the photos of a renamed folder keep their uploads`() async throws {
        let agent = try await home.startAgent()
        let (old, new) = (home.vacations.appending("Paris"), home.vacations.appending("Paris 2024"))
        for number in 0..<4 { try old.pushing(FilePath("day/\(number).jpg")).create(SamplePhoto.unique(number)) }
        try await agent.stored(atLeast: 4)
        try old.move(to: new)
        let photos = try await home.photos(at: new) { $0.count == 4 && $0.allSatisfy { $0.state == "uploaded" } }
        #expect(photos.map(\.path).sorted() == (0..<4).map { new.pushing(FilePath("day/\($0).jpg")).string })
        try await expectNothingSentBeside(4, agent)
        #expect(try await home.overview().totals.missing == 0)
    }

    @Test func `a folder that was renamed while no agent ran keeps its uploads`() async throws {
        let (old, new) = (home.vacations.appending("Paris"), home.vacations.appending("Rome"))
        for number in 0..<4 { try old.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        #expect(try await home.run("sync").code == 0)
        try old.move(to: new)
        let answer = try await home.pass()
        #expect(answer.uploaded == 0 && answer.alreadyStored == 0 && answer.bytesSent == 0)
        #expect(try await home.photos(at: new).map(\.state) == Array(repeating: "uploaded", count: 4))
    }

    @Test(arguments: [true, false])
    func `a photo that is rewritten in place, with its time set back, is stored anew`(isAgentRunning: Bool) async throws
    {
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        try photo.age(bySeconds: 60)
        #expect(try await home.run("sync").code == 0)
        let agent = isAgentRunning ? try await home.startAgent() : nil
        let before = try FileStamp(of: photo)
        let bytes = try SamplePhoto.unique(6)
        // As `exiftool -P -overwrite_original_in_place` and `cp -p` do it.
        try photo.overwrite(bytes)
        try photo.setModified(before.modified)
        let after = try FileStamp(of: photo)
        #expect((after.inode, after.size, after.modified) == (before.inode, before.size, before.modified))
        if let agent {
            // Nothing else is there to be stored. Its time may be set back behind that, and it is read once more.
            try await agent.stored(atLeast: 1)
            #expect(agent.outcomes.first == LoggedOutcome(path: photo.string, kind: .stored))
        } else {
            #expect(try await home.pass().uploaded == 1)
        }
        let status = try await home.photos(at: photo) { $0.first?.state == "uploaded" }.first
        #expect(status?.md5 == "\(ContentDigest(of: bytes).md5)")
    }

    /// Stores one photo more, and finds that nothing else was sent since.
    private func expectNothingSentBeside(_ count: Int, _ agent: ChildProcess) async throws {
        let last = home.gallery.appending("last.jpg")
        try last.create(SamplePhoto.unique(99))
        #expect(try await agent.outcome(of: last) == .stored)
        #expect(agent.outcomes.count { $0.kind == .stored } == count + 1)
        #expect(try home.store.objects().count == count + 1)
    }
}
