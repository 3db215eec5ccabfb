import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Outputs that would go into the folders of this program, and a migration that would take them away.
@Suite(.serialized) struct OutputPlaceTests {
    @Test(arguments: [
        ["projects", "export", "--zip", "OUT/a.zip"], ["projects", "export", "OUT/a"],
        ["archive", "download", "--zip", "OUT/a.zip"], ["archive", "download", "--output", "OUT/a"],
        ["archive", "list", "--html", "OUT/a.html"], ["archive", "list", "--force", "--html", "OUT/a.html"],
        ["share", "--export", "OUT/a", AgentHome.trip], ["share", "--export", "OUT/a.zip", AgentHome.trip],
        ["restore", "--yes", "--output", "OUT/a", AgentHome.trip],
        ["guests", "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10", "--accept", "--into", "OUT"],
        ["mirror", "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10", "OUT/a"],
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
