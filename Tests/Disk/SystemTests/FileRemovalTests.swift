import Foundation
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FileRemovalTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `a file that nothing holds is removed, and one that is not there is in nobody's way`() throws {
        let file = try tree.write("text", to: "a.jpg")
        #expect(file.removalObstacle == nil)
        #expect(file.removeFile() == nil)
        #expect(try tree.files() == [])
        #expect(file.removalObstacle == nil && file.removeFile() == nil)
        #expect(tree.path("nowhere/a.jpg").removalObstacle == nil)
    }

    @Test func `a folder in the place of a file is told before, and when it is to be removed`() throws {
        let folder = try tree.makeFolder("a.jpg")
        #expect(folder.removalObstacle == "it is a folder; move it away")
        #expect(folder.removeFile() == folder.removalObstacle)
    }

    @Test(.enabled(if: geteuid() != 0, "nothing is forbidden to root"))
    func `a folder that may not be written to holds its files`() throws {
        let file = try tree.write("text", to: "held/a.jpg")
        #expect(chmod(tree.path("held").string, 0o555) == 0)
        defer { chmod(tree.path("held").string, 0o755) }
        #expect(file.removalObstacle?.hasPrefix("no permission to write there") == true)
        #expect(file.removeFile() == file.removalObstacle)
        #expect(try tree.files() == ["held/a.jpg"])
    }

    @Test(arguments: FileFlag.allCases, [false, true])
    func `what chattr holds is told before, and when it is to be removed`(flag: FileFlag, isFolder: Bool) throws {
        let file = try tree.write("text", to: "held/a.jpg")
        let held = isFolder ? tree.path("held") : file
        guard flag.set(true, on: held) else {
            // Nobody but root may hold it, and not on every file system: then nothing is in the way.
            #expect(file.removalObstacle == nil && file.removeFile() == nil)
            return
        }
        defer { flag.set(false, on: held) }
        let what = isFolder ? "its folder" : "it"
        let words = "\(what) is immutable or append-only; sudo chattr -i -a takes that from it"
        #expect(file.removalObstacle == words)
        #expect(file.removeFile() == words)
        #expect(try tree.files() == ["held/a.jpg"])
    }
}
