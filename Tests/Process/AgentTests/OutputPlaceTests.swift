import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Outputs that would go into the folders of this program, and a migration that would take them away.
struct OutputPlaceTests {
    @Test(arguments: [
        ["projects", "export", "--zip", "OUT/a.zip"], ["projects", "export", "OUT/a"],
        ["archive", "download", "--zip", "OUT/a.zip"], ["archive", "download", "--output", "OUT/a"],
        ["archive", "list", "--html", "OUT/a.html"], ["archive", "list", "--force", "--html", "OUT/a.html"],
        ["share", "--export", "OUT/a", AgentHome.trip], ["share", "--export", "OUT/a.zip", AgentHome.trip],
        ["restore", "--yes", "--output", "OUT/a", AgentHome.trip],
        ["guests", "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10", "--accept", "--into", "OUT"],
        ["mirror", "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10", "OUT/a"],
        ["mirror", "https://example.invalid/shares/7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10/index.html", "OUT/a"],
        ["move-store", "--yes", "OUT/a"],
    ])
    func `nothing is written into the store or the state folder`(arguments: [String]) async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        for folder in [home.store.root, home.tree.path("state/sync-agent")] {
            let before = try home.tree.files(below: "store")
            let words = arguments.map { $0.replacing("OUT", with: folder.string) }
            let refused = try await home.start(words).finished()
            #expect(refused.code == 64 && refused.complaint.contains("name another folder"), "\(words): \(refused)")
            #expect(refused.complaint.contains("\(folder),"), "\(refused)")
            #expect(try home.tree.files(below: "store") == before)
            for name in ["a", "a.zip", "a.html"] {
                #expect(!FileManager.default.fileExists(atPath: folder.appending(name).string))
            }
        }
    }

    @Test func `no folder of a restore is the store, or a link into it`() async throws {
        let home = try AgentHome()
        let name = try #require(home.store.root.lastComponent)
        let album = home.gallery.appending(name)
        try album.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.tree.makeFolder("out")
        try FileManager.default.createSymbolicLink(
            atPath: home.tree.path("out").appending(name).string,
            withDestinationPath: home.store.root.appending("objects").string)
        for output in [home.store.root.removingLastComponent(), home.tree.path("out")] {
            let refused = try await home.run("restore", "--yes", "--output", output.string, album.string)
            #expect(refused.code == 64 && refused.complaint.contains("name another folder"), "\(refused)")
            let photos = try home.tree.files(below: "store").filter { $0.hasSuffix(".jpg") }
            #expect(photos.isEmpty)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `no folder of a restore is a bind mount of a folder in the store`() async throws {
        let home = try AgentHome()
        let album = home.gallery.appending("Album")
        try album.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let place = try home.tree.makeFolder("out/Album")
        try #require(mount(home.store.root.appending("objects").string, place.string, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(place.string, Int32(MNT_DETACH)) }
        let refused = try await home.run("restore", "--yes", "--output", home.tree.path("out").string, album.string)
        #expect(refused.code == 64 && refused.complaint.contains("name another folder"), "\(refused)")
        let photos = try home.tree.files(below: "store").filter { $0.hasSuffix(".jpg") }
        #expect(photos.isEmpty)
    }

    @Test func `a mirror of a link needs no configuration, and is held against what there is of one`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        let port = try SilentPort(listens: false)
        let mirror = ["mirror", "http://127.0.0.1:\(port.number)/trip.html"]
        let (state, watched) = (home.tree.path("state/sync-agent/a").string, home.vacations.appending("a").string)
        let elsewhere = home.friendsFolder("a").string
        // Notes are wrapped.
        func says(_ finished: Finished, _ words: String) -> Bool {
            finished.complaint.replacing("\n", with: " ").contains(words)
        }
        let told = try await home.start(mirror + [watched]).finished()
        #expect(told.code == 69 && says(told, "counts as photos of that folder"), "\(told)")
        try home.configure("user: [ana")
        let unread = try await home.start(mirror + [elsewhere]).finished()
        #expect(unread.code == 69 && says(unread, "cannot be read, so that nobody knows"), "\(unread)")
        #expect(try await home.start(mirror + [state]).finished().code == 64)
        // Known by what lies in them, whichever configuration they belong to.
        let environments: [[String: String]] = [[:], ["XDG_STATE_HOME": home.tree.path("other").string]]
        for environment in environments {
            for folder in [home.store.root, home.store.root.appending("objects"), home.tree.path("state/sync-agent")] {
                let refused = try await home.start(mirror + [folder.appending("a").string], environment: environment)
                    .finished()
                #expect(refused.code == 64 && says(refused, "where nothing else may be"), "\(folder): \(refused)")
            }
        }
        let none = home.tree.path("none.yaml").string
        for environment in [["SYNC_AGENT_CONFIG": none], ["HOME": "", "XDG_STATE_HOME": ""]] {
            let finished = try await home.start(mirror + [elsewhere], environment: environment).finished()
            #expect(finished.code == 69 && !finished.complaint.contains("configuration"), "\(finished)")
        }
    }

    @Test func `no store moves to where it would hold the state folder or the configuration`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        let state = home.tree.path("state")
        let settings = try home.tree.makeFolder("settings")
        let file = settings.appending("config.yaml")
        try home.tree.path("config.yaml").move(to: file)
        let before = try home.tree.files(below: "store")
        for (folder, reason) in [
            (state, "\(state) holds the state folder, \(state)/sync-agent,"),
            (settings, "\(settings) holds the configuration, \(file),"),
        ] {
            let refused = try await home.start(
                ["move-store", "--yes", folder.string], environment: ["SYNC_AGENT_CONFIG": file.string]
            ).finished()
            #expect(refused.code == 64 && refused.complaint.contains(reason), "\(refused)")
            #expect(refused.complaint.contains("name another folder"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending("objects").string))
        }
        #expect(try home.tree.files(below: "store") == before)
    }

    @Test func `a store of old in the state folder goes on, is told when somebody asks, and can be moved`() async throws
    {
        let home = try AgentHome()
        let (state, apart) = (home.tree.path("state/sync-agent"), home.tree.path("apart"))
        let store = state.appending("store")
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(store)}
            watch: [{kind: vacations, path: \(home.vacations)}]
            upload: {settle_seconds: 0.2}
            """)
        try home.photo(0).create(SamplePhoto.taken(0))
        #expect(try await home.pass().uploaded == 1)
        let checked = try await home.run("config", "check")
        #expect(checked.code == 78, "\(checked)")
        #expect(checked.complaint.contains("\(store) is in the state folder, \(state), and the two have to be apart"))
        #expect(checked.complaint.contains("sync-agent move-store moves it"))
        #expect(try await home.run("move-store", "--yes", apart.string).code == 0)
        #expect(try await home.run("config", "check").code == 0)
    }

    @Test func `a folder of the program that is watched by another name is found when somebody asks`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        #expect(try await home.run("config", "check").code == 0)
        let link = home.tree.path("link")
        #expect(symlink(home.store.root.string, link.string) == 0)
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: gallery, path: \(link)}]
            """)
        let reason = "\(link) is the store, \(home.store.root), and the agent would upload its own files"
        let checked = try await home.run("config", "check")
        #expect(checked.code == 78 && checked.complaint.contains(reason), "\(checked)")
        let examined = try await home.run("doctor", "--json")
        let check = try JSONDecoder().decode(DoctorAnswer.self, from: Data(examined.output))["configuration"]
        #expect(examined.code == 78 && check?.state == "wrong", "\(examined)")
        #expect(check?.detail.hasSuffix(reason) == true)
        #expect(check?.remedy == "name another folder under watch")
    }

    @Test(arguments: [
        ("home/Gallery", "home/Gallery", "is"), ("home/Gallery/deep", "home/Gallery", "is in"),
        ("home", "home/Gallery", "holds"),
    ])
    func `one folder that is watched by two names is found when somebody asks, and told by each pass`(
        target: String, other: String, relation: String
    ) async throws {
        let home = try AgentHome()
        try home.tree.makeFolder("home/Gallery/deep")
        let (link, folder) = (home.tree.path("link"), home.tree.path(other))
        #expect(symlink(home.tree.path(target).string, link.string) == 0)
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: gallery, path: \(folder)}, {kind: gallery, path: \(link)}]
            """)
        let reason = "\(link) \(relation) the watched folder \(folder), and a photo may be in one watched folder only"
        let checked = try await home.run("config", "check")
        #expect(checked.code == 78 && checked.complaint.contains(reason), "\(checked)")
        let examined = try await home.run("doctor", "--json")
        let check = try JSONDecoder().decode(DoctorAnswer.self, from: Data(examined.output))["configuration"]
        #expect(examined.code == 78 && check?.state == "wrong", "\(examined)")
        #expect(check?.remedy == "leave one of the two out of watch")
        // What was set up so goes on, and is told.
        let passed = try await home.run("sync")
        #expect(passed.code == 3, "\(passed)")
        #expect(passed.text.contains("\(link): the folder \(relation) the watched folder \(folder), and"), "\(passed)")
        #expect(try await home.run("status", "--json").text.contains("leave one of the two out of watch"))
    }

    @Test func `a migration takes away no folder of the program, and no other watched one`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 1)
        let new = home.tree.path("New").string
        let link = home.tree.path("link")
        #expect(symlink(home.store.root.string, link.string) == 0)
        let before = try home.tree.files(below: "store")
        let old: [FilePath] = [
            home.store.root, home.store.root.appending("objects"), link, home.tree.path(""), home.gallery,
            home.tree.path("home"), home.tree.path("state/sync-agent"), home.tree.path("state"),
            home.vacations.appending(AgentHome.trip),
        ]
        for folder in old {
            for words in [["--dry-run"], []] {
                let finished = try await home.start(["projects", "migrate"] + words + [folder.string, new]).finished()
                #expect(finished.code == 64, "\(folder): \(finished)")
            }
        }
        let alias = home.tree.path("alias")
        #expect(symlink(home.projects.string, alias.string) == 0)
        let linked = try await home.run("projects", "migrate", alias.string, new)
        #expect(linked.code == 64 && linked.complaint.contains("name the folder itself"), "\(linked)")
        let refused = try await home.run("projects", "migrate", home.store.root.string, "/dev/shm/none/New")
        #expect(refused.complaint.contains("is the store, \(home.store.root)"), "\(refused)")
        #expect(refused.complaint.contains("name the projects folder"), "\(refused)")
        #expect(try home.tree.files(below: "store") == before)
    }

    @Test func `a migration makes no folder that the configuration would refuse`() async throws {
        let home = try AgentHome()
        try home.projects.appending("aa.jpg").create(try SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        for folder in [
            home.store.root, home.store.root.appending("new"), home.tree.path("state/sync-agent/new"),
            home.tree.path("state"), home.gallery, home.gallery.appending("new"),
        ] {
            let finished = try await home.run("projects", "migrate", home.projects.string, folder.string)
            #expect(finished.code == 64 && finished.complaint.contains("name another folder"), "\(finished)")
        }
        #expect(try home.tree.files(below: "home/Projects") == ["aa.jpg"])
    }
}
