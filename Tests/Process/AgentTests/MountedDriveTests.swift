import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Drives that are plugged in and out, and folders that are mounted under another name.
@Suite(.enabled(if: geteuid() == 0, "mounting needs root")) struct MountedDriveTests {
    private let home: AgentHome

    init() throws { home = try AgentHome(in: .disk) }

    private func folder(
        where isRight: (StatusOverview.Folder) -> Bool
    ) async throws -> StatusOverview.Folder {
        try await eventually("what status says of the gallery") {
            try await home.overview().folders.first { $0.path == home.gallery.string && isRight($0) }
        }
    }

    @Test func `photos on a drive are stored as soon as it is mounted, and are not missing once it is not`()
        async throws
    {
        let agent = try await home.startAgent()
        let place = home.gallery.appending("SD")
        try home.gallery.appending("here.jpg").create(SamplePhoto.unique(0))
        try place.createFolder()
        try await agent.stored(atLeast: 1)
        let drive = try Drive(at: place)
        let photo = place.pushing("DCIM/a.jpg")
        try photo.create(SamplePhoto.unique(1))
        #expect(try await agent.outcome(of: photo) == .stored)
        let note = try await folder { $0.note != nil }.note
        #expect(note?.contains("a file system is mounted at \(place) since 20") == true)

        try drive.unmount()
        let folder = try await folder { $0.problem?.contains("no drive is mounted") == true }
        #expect(folder.problem?.contains("no drive is mounted here, and 1 file is known on the one that was") == true)
        #expect(folder.note?.contains("no file system is mounted at \(place) since 20") == true)
        #expect(try await home.photos(at: photo).map(\.state) == ["uploaded"])
        #expect(try await home.overview().totals.missing == 0)
        // Some desktops remove the place, too.
        try place.remove()
        let last = home.gallery.appending("last.jpg")
        try last.create(SamplePhoto.unique(2))
        #expect(try await agent.outcome(of: last) == .stored)
        #expect(try await home.photos(at: photo).map(\.state) == ["uploaded"])
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        let pass = try await home.run("sync", "--json")
        #expect(pass.code == 3)
        #expect(try await home.photos(at: photo).map(\.state) == ["uploaded"])
    }

    @Test func `a restore saves nothing into the place where its drive was mounted, and goes on when that is back`()
        async throws
    {
        let home = try AgentHome(restoring: 3_600, more: AgentHome.archivesAtOnce, in: .disk)
        for number in 0..<4 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        let config = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(config.replacing("archive_after_days: 0", with: "archive_after_days: 180"))
        try home.vacations.pushing("Rome/9.jpg").create(SamplePhoto.unique(9))
        #expect(try await home.run("sync").code == 0)

        let (disk, place) = (try home.tree.makeFolder("disk"), try home.tree.makeFolder("drive"))
        var drive = try Drive(of: disk, at: place)
        // One can be read at once, the others come later.
        #expect(try await home.restore("Rome", "--output", place.string).items.count == 5)
        #expect(try home.tree.photos(below: "disk") == ["Rome/9.jpg"])
        try drive.unmount()
        try home.store.endCopies(inSeconds: 86_400)
        let refused = try await home.run("restores", "--refresh")
        #expect(refused.code == 3 && refused.complaint.contains("\(place) is not the folder"), "\(refused)")
        let pass = try await home.run("sync")
        #expect(pass.code == 3 && pass.text.contains("Mount the drive again"), "\(pass)")
        #expect(try await home.restores().map(\.saved) == [1])
        #expect(try home.tree.files(below: "drive") == [])

        drive = try Drive(of: disk, at: place)
        let refreshed = try await home.run("restores", "--refresh")
        #expect(refreshed.code == 0, "\(refreshed)")
        #expect(try await home.restores().map(\.saved) == [5])
        #expect(try home.tree.files(below: "disk") == [0, 1, 2, 3, 9].map { "Rome/\($0).jpg" })
        try drive.unmount()
    }

    @Test func `the store is the store by the name of a bind mount, too`() async throws {
        try home.gallery.appending("1.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let place = try home.tree.makeFolder("bound")
        let drive = try Drive(of: home.store.root, at: place)
        let before = try home.storeFiles()
        for folder in [place, place.appending("new")] {
            let refused = try await home.run(
                "restore", "--yes", "--output", folder.string, home.gallery.appending("1.jpg").string)
            #expect(refused.code == 64 && refused.complaint.contains("name another folder"), "\(refused)")
        }
        let moved = try await home.run("move-store", "--yes", place.appending("new").string)
        #expect(moved.code == 64 && moved.complaint.contains("name another folder"), "\(moved)")
        let migrated = try await home.run("projects", "migrate", place.string, home.tree.path("New").string)
        #expect(migrated.code == 64 && migrated.complaint.contains(" is the store, \(home.store.root)"), "\(migrated)")
        #expect(try home.storeFiles() == before)
        try drive.unmount()
    }
}

/// A file system in memory, or a folder that stands for one.
private final class Drive {
    private let place: FilePath
    private var isMounted = true

    init(at place: FilePath) throws {
        self.place = place
        guard mount("tmpfs", place.string, "tmpfs", 0, "size=16m") == 0 else { throw Errno(rawValue: errno) }
    }

    init(of folder: FilePath, at place: FilePath) throws {
        self.place = place
        guard mount(folder.string, place.string, nil, UInt(MS_BIND), nil) == 0 else { throw Errno(rawValue: errno) }
    }

    deinit {
        if isMounted { umount2(place.string, Int32(MNT_DETACH)) }
    }

    func unmount() throws {
        guard umount2(place.string, Int32(MNT_DETACH)) == 0 else { throw Errno(rawValue: errno) }
        isMounted = false
    }
}
