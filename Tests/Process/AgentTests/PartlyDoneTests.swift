import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Passes that cannot do everything: what waits is named, and `status` does not forget it.
@Suite(.serialized) struct PartlyDoneTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test(
        "a photo that another program has open is named once by a pass, which ends without it",
        arguments: [0, 3_600])
    func stillWritten(seconds: Int) async throws {
        let (whole, slow) = (home.gallery.appending("a.jpg"), home.gallery.appending("slow.jpg"))
        try whole.create(SamplePhoto.unique(1))
        let bytes = try SamplePhoto.unique(2)
        let writer = try SlowWriter(slow)
        try writer.write(bytes.prefix(1_000))
        try slow.age(bySeconds: seconds)
        let finished = try await home.run("sync")
        #expect(finished.code == 3)
        #expect((finished.text + finished.complaint).ranges(of: "\(slow): ").count == 1)
        #expect(try home.store.objects().count == 1)
        try writer.write(bytes.dropFirst(1_000))
        try writer.close()
        #expect(try await home.run("sync").code == 0)
        #expect(try home.store.objects().count == 2)
    }

    @Test("a folder that was missing in the last pass is named by status, which does not call everything safe")
    func missingFolderInStatus() async throws {
        try home.projects.remove()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 3)
        let status = try await home.run("status")
        #expect(status.text.contains("not there"))
        #expect(!status.text.contains("Everything is safe"))
    }

    @Test("a photo that can be read again is stored by the next pass that somebody asks for")
    func readableAgain() async throws {
        let locked = home.gallery.appending("locked.jpg")
        try locked.create(SamplePhoto.unique(2))
        try locked.setMode(0)
        #expect(try await home.runBoundByPermissions("sync").code == 3)
        try locked.setMode(0o600)
        let finished = try await home.run("sync")
        #expect(finished.code == 0)
        #expect(try home.store.objects().count == 1)
    }

    @Test("every pass that ends with 3 names what waits")
    func waitingIsNamed() async throws {
        let locked = home.gallery.appending("locked.jpg")
        try locked.create(SamplePhoto.unique(2))
        try locked.setMode(0)
        for _ in 1...2 {
            let finished = try await home.runBoundByPermissions("sync")
            #expect(finished.code == 3)
            #expect((finished.text + finished.complaint).contains("\(locked)"))
        }
    }
}
