import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// A drive that is plugged in and out below a watched folder, while the agent watches.
@Suite(.serialized, .enabled(if: geteuid() == 0, "mounting needs root")) struct MountedDriveTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

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
        let folder = try await folder { $0.problem != nil }
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
}

/// A file system in memory.
private final class Drive {
    private let place: FilePath
    private var isMounted = true

    init(at place: FilePath) throws {
        self.place = place
        guard mount("tmpfs", place.string, "tmpfs", 0, "size=16m") == 0 else { throw Errno(rawValue: errno) }
    }

    deinit {
        if isMounted { umount2(place.string, Int32(MNT_DETACH)) }
    }

    func unmount() throws {
        guard umount2(place.string, Int32(MNT_DETACH)) == 0 else { throw Errno(rawValue: errno) }
        isMounted = false
    }
}
