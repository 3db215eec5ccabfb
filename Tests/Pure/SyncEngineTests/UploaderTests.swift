import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What happens when something lies under a photo's key already, or the store does not hold what was sent.
@Suite struct UploaderTests {
    private let bench: Bench
    private let key: ObjectKey
    private let path = Bench.gallery.appending("a.jpg")

    init() throws {
        bench = try Bench()
        bench.disk.write("sunset", to: path)
        key = try ObjectKey("users/ana/photos/\(ContentDigest(of: Array("sunset".utf8)).md5).dat")
    }

    private func put(_ text: String, metadata: [String: String] = [:], storageClass: StorageClass = .standard)
        async throws
    {
        _ = try await bench.memory.put(
            ObjectBody(text), at: key,
            attributes: ObjectAttributes(
                contentType: "image/jpeg", metadata: metadata, storageClass: storageClass), condition: .overwrite)
    }

    @Test func `equal bytes that another machine stored are taken as they are`() async throws {
        try await put("SUNSET")
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.events.summary.alreadyStored == 1)
    }

    @Test func `an archived copy is never sent again`() async throws {
        try await put("SUNSET")
        bench.memory.setClass(.deepArchive, of: key)
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .uploaded)
        #expect(photo.storageClass == .deepArchive)
    }

    @Test func `a copy that was reduced with other settings counts, and is described as it is`() async throws {
        try await put(
            "Sunset, small",
            metadata: [
                "md5": "\(ContentDigest(of: Array("sunset".utf8)).md5)",
                "sha256": "\(ContentDigest(of: Array("Sunset, small".utf8)).sha256)", "width": "2", "height": "1",
            ])
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .uploaded)
        #expect(photo.width == 2)
        #expect(photo.bytesStored == 13)
    }

    @Test func `something else under the key is left as it is, and told`() async throws {
        try await put("not ours")
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .failed)
        #expect(photo.error?.contains("another object (8 bytes)") == true)
        #expect(bench.memory.content(key) == Array("not ours".utf8))
    }

    @Test func `a project's file replaces its earlier version`() async throws {
        let path = Bench.projects.appending("projects.json")
        bench.disk.write("text [1]", to: path)
        try await bench.pass()
        bench.disk.write("text [1, 2]", to: path)
        try await bench.pass()
        #expect(bench.memory.content(try ObjectKey("users/ana/projects/projects.json")) == Array("TEXT [1, 2]".utf8))
    }
}
