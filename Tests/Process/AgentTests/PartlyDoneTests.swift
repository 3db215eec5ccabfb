import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Passes that cannot do everything: what waits is named, and `status` does not forget it.
struct PartlyDoneTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test(
        arguments: [0, 3_600])
    func `a photo that another program has open is named once by a pass, which ends without it`(seconds: Int)
        async throws
    {
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
        let status = try await home.run("status")
        #expect(!status.text.contains("Everything is safe"))
        #expect(try await home.overview().totals.pending == 1)
        try writer.write(bytes.dropFirst(1_000))
        try writer.close()
        #expect(try await home.run("sync").code == 0)
        #expect(try home.store.objects().count == 2)
    }

    @Test func `a folder that was missing in the last pass is named by status, which does not call everything safe`()
        async throws
    {
        try home.projects.remove()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 3)
        let status = try await home.run("status")
        #expect(status.text.contains("not there"))
        #expect(!status.text.contains("Everything is safe"))
    }

    @Test func `a pass does not end well while it cannot look at what this machine has stored`() async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let record = try #require(try home.store.photoRecordPaths().first)
        let aside = home.tree.path("record")
        try record.move(to: aside)
        try record.createFolder()
        let finished = try await home.run("sync")
        #expect(finished.code == 3 && finished.text.contains("1 object could not be looked at"), "\(finished)")
        #expect(finished.complaint.contains("cannot be looked at in the store"))
        #expect(try await !home.run("status").text.contains("Everything is safe"))
        // What verification knows of it by then changes nothing for a pass.
        #expect(try await home.run("verify", "--all").code == 3)
        let again = try await home.run("sync")
        #expect(again.code == 3 && again.text.contains("1 object could not be looked at"), "\(again)")
        try record.remove()
        try aside.move(to: record)
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.run("verify", "--all").code == 0)
        #expect(try await home.run("status").text.contains("Everything is safe"))
    }

    @Test func `an original that is gone, and its file with it, ends each pass with 3 until it is forgotten`()
        async throws
    {
        let home = try AgentHome(more: "photos: {max_dimension: 100, keep_originals: true}")
        let photo = home.gallery.appending("a.jpg")
        for file in [photo, home.gallery.appending("b.jpg")] {
            try file.create(SamplePhoto.taken(file == photo ? 0 : 1))
        }
        #expect(try await home.run("sync").code == 0)
        let md5 = try ContentDigest(of: SamplePhoto.taken(0)).md5
        let original = try #require(
            try home.store.objects().first { $0.key.hasPrefix("users/ana/originals/\(md5)") })
        try home.store.root.appending("objects").pushing(FilePath(original.file)).remove()
        try photo.remove()
        for _ in 0..<2 {
            let pass = try await home.run("sync")
            #expect(pass.code == 3 && pass.text.contains("1 stored object is damaged or gone"), "\(pass)")
        }
        #expect(try await home.run("status", "--check").code == 2)
        #expect(try await home.run("forget", "--yes", photo.string).code == 0)
        #expect(try await home.run("sync").code == 0)
    }

    @Test func `a photo that can be read again is stored by the next pass that somebody asks for`() async throws {
        let locked = home.gallery.appending("locked.jpg")
        try locked.create(SamplePhoto.unique(2))
        try locked.setMode(0)
        #expect(try await home.runBoundByPermissions("sync").code == 3)
        try locked.setMode(0o600)
        let finished = try await home.run("sync")
        #expect(finished.code == 0)
        #expect(try home.store.objects().count == 1)
    }

    @Test(
        arguments: [0, 0o600])
    func `of a path in a folder that cannot be read it is said so, and not that nothing is there`(mode: Int)
        async throws
    {
        let folder = home.gallery.appending("locked")
        try folder.appending("a.jpg").create(SamplePhoto.unique(2))
        try folder.setMode(CInterop.Mode(mode))
        defer { try? folder.setMode(0o700) }
        #expect(try await home.runBoundByPermissions("sync").code == 3)
        for command in [["status"], ["retry"], ["verify"], ["restore", "--yes"], ["forget", "--yes"]] {
            let photo = folder.appending("a.jpg").string
            let finished = try await home.runBoundByPermissions(command + [photo])
            #expect(finished.code == 77, "\(command): \(finished)")
            #expect(finished.complaint.contains("\(folder) may not be read"), "\(command): \(finished)")
        }
        let nothing = try await home.runBoundByPermissions(["status", home.gallery.appending("b.jpg").string])
        #expect(nothing.code == 66)
    }

    @Test func `a name that can be no share is the command line's fault, and one that nobody knows is not`()
        async throws
    {
        let unknown = "0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"
        for (name, code) in [("nope", Int32(64)), (unknown, 66)] {
            let revoked = try await home.run("shares", "--yes", "--revoke", name)
            let mirrored = try await home.run("mirror", name, home.tree.path("copy").string)
            #expect(revoked.code == code && !revoked.complaint.isEmpty, "\(revoked)")
            // An embedded store that was never made is away, and does not know.
            #expect(mirrored.code == code || code == 66 && mirrored.code == 69, "\(mirrored)")
        }
    }

    @Test(
        arguments: [[], ["--json"]])
    func `a project that nobody knows is an error on standard error, with JSON and without`(options: [String])
        async throws
    {
        _ = try await home.pass()
        let finished = try await home.start(["projects", "delete", "--yes", "nope"] + options).finished()
        #expect(finished.code == 66)
        #expect(finished.complaint.contains("nope: no such project"))
    }

    @Test func `a store that is away is told once by a pass`() async throws {
        let home = try AgentHome(
            store: "{type: s3, bucket: photos, region: us-east-1, endpoint: 'http://127.0.0.1:9'}",
            environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"])
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(2))
        let finished = try await home.run("sync")
        #expect(finished.code == 69)
        #expect(finished.complaint.ranges(of: "cannot reach").count == 1, "\(finished)")
    }

    @Test func `where the catalogue cannot be listed, verify tells what it has found, and that this is not known`()
        async throws
    {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(2))
        #expect(try await home.run("sync").code == 0)
        let folder = home.store.root.pushing("records/users/ana/catalog")
        try folder.setMode(0)
        defer { try? folder.setMode(0o700) }
        let finished = try await home.runBoundByPermissions("verify", "--all")
        #expect(finished.code == 3, "\(finished)")
        let told = finished.text + finished.complaint
        #expect(told.contains("not known: ") && told.contains("1 object checked"), "\(finished)")
        #expect(told.contains("\(folder)"), "\(finished)")
    }

    @Test func `every pass that ends with 3 names what waits`() async throws {
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
