import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// Photos whose file nobody sees, and of which the store has the original alone.
struct AwayOriginalTests {
    @Test(arguments: [[], ["--original"]])
    func `while its drive is away, a photo whose copy is damaged comes back as its original`(
        options: [String]
    ) async throws {
        let home = try AgentHome(more: "photos: {max_dimension: 100, keep_originals: true}")
        let photo = home.gallery.appending("a.jpg")
        let bytes = try SamplePhoto.taken(1)
        try photo.create(bytes)
        #expect(try await home.run("sync").code == 0)
        // What an empty folder looks like is a drive that is not mounted.
        try photo.remove()
        let copy = try #require(try home.store.objects().first { $0.key.hasPrefix("users/ana/photos/") })
        try Data("ruin".utf8).write(
            to: URL(filePath: home.store.root.appending("objects").pushing(FilePath(copy.file)).string))
        #expect(try await home.run("verify", "--all").code == 3)
        #expect(try await home.photo(photo)?.state == "pending")
        let output = home.tree.path("back")
        let finished = try await home.start(
            ["restore", "--yes", "--wait", "--output", output.string, photo.string] + options
        ).finished()
        #expect(finished.code == 0, "\(finished)")
        #expect(try home.tree.read("back/a.jpg") == bytes)
    }
}
