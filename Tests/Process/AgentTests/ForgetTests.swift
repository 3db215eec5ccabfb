import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Stored photos that are deleted for good by the program.
struct ForgetTests {
    private struct Answer: Decodable {
        struct Item: Decodable {
            var path: String?
            var key: String?
        }
        struct Deleted: Decodable {
            var key: String
            var bytes: Int64
        }
        struct Kept: Decodable {
            var path: String?
            var key: String?
            var reason: String
        }
        var forgotten: [Item]
        var deleted: [Deleted]
        var kept: [Kept]
        var freedBytes: Int64
        var monthlyUSD: Double
        var earlyDeletionUSD: Double
        var dryRun: Bool
    }

    private func forget(_ home: AgentHome, _ arguments: String..., code: Int32 = 0) async throws -> Answer {
        let finished = try await home.start(["forget", "--json"] + arguments).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    private func remove(_ path: FilePath) throws { try FileManager.default.removeItem(atPath: path.string) }

    /// Photos 0 to 3 in the gallery; photo 0 has a second name.
    private func fill(_ home: AgentHome) async throws {
        for number in 0..<4 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        try home.gallery.appending("again.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
    }

    @Test(
        arguments: ArchivePlace.required)
    func `what is gone from the disk goes from the store, and what is not stays`(place: ArchivePlace) async throws {
        let (home, _) = try await place.makeHome()
        try await fill(home)
        for number in 0..<3 { try remove(home.gallery.appending("\(number).jpg")) }
        _ = try await home.pass()
        let preview = try await forget(home, "--dry-run", "--missing")
        #expect(preview.dryRun && preview.forgotten.count == 3 && preview.deleted.count == 2)
        #expect(preview.kept.map(\.path) == [home.gallery.appending("0.jpg").string])
        #expect(preview.freedBytes == preview.deleted.reduce(0) { $0 + $1.bytes } && preview.freedBytes > 0)
        // A pass has archived them a moment ago.
        #expect(preview.earlyDeletionUSD >= 0 && preview.monthlyUSD >= 0)
        #expect(try await home.photos(at: home.gallery).count == 5)

        let refused = try await home.run("forget", home.gallery.appending("1.jpg").string)
        #expect(refused.code == 64 && refused.complaint.contains("--yes"), "\(refused)")
        let answer = try await forget(home, "--yes", "--missing")
        #expect(!answer.dryRun && answer.forgotten.count == 3)
        #expect(Set(answer.deleted.map(\.key)) == Set(preview.deleted.map(\.key)))
        let left = try await home.photos(at: home.gallery)
        #expect(
            Set(left.map(\.path))
                == ["3.jpg", "again.jpg"].map { home.gallery.appending($0).string }.reduce(
                    into: Set()
                ) { $0.insert($1) })
        #expect(try await home.run("status", home.gallery.appending("1.jpg").string).code == 66)
        // Nothing of it comes back by a pass, and nothing is missed.
        #expect(try await home.pass().uploaded == 0)
        let status = try await home.run("status", "--refresh")
        #expect(status.code == 0, "\(status)")

        // A copy that turns up later is a photo like any other.
        try home.gallery.appending("found.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.pass().uploaded == 1)
    }

    @Test func `a photo that is still here is refused by its name`() async throws {
        let home = try AgentHome(in: .disk)
        try await fill(home)
        let path = home.gallery.appending("1.jpg").string
        let answer = try await forget(home, "--yes", path, code: 3)
        #expect(answer.forgotten.isEmpty && answer.kept.map(\.path) == [path])
        #expect(answer.kept[0].reason.contains("still here"))
        #expect(try home.store.objects().filter { $0.key.contains("/photos/") }.count == 4)
    }

    @Test func `somebody at a terminal has to type the number of what goes`() async throws {
        let home = try AgentHome(in: .disk)
        try await fill(home)
        try remove(home.gallery.appending("1.jpg"))
        let path = home.gallery.appending("1.jpg").string
        let no = try await home.runAtTerminal(["forget", path], typing: "yes\n")
        #expect(no.code == 1 && no.text.contains("Type 1"), "\(no)")
        #expect(try home.store.objects().filter { $0.key.contains("/photos/") }.count == 4)
        let yes = try await home.runAtTerminal(["forget", path], typing: "1\n")
        #expect(yes.code == 0, "\(yes)")
        #expect(try home.store.objects().filter { $0.key.contains("/photos/") }.count == 3)
    }

    @Test func `a name that looks like a wildcard never takes what it would match`() async throws {
        let home = try AgentHome(in: .disk)
        let named = home.gallery.appending("x[1].jpg")
        let matched = home.gallery.appending("x1.jpg")
        let inFolder = home.gallery.pushing("Rome [1]/a.jpg")
        let inOther = home.gallery.pushing("Rome 1/b.jpg")
        for (number, photo) in [named, matched, inFolder, inOther].enumerated() {
            try photo.create(SamplePhoto.unique(number))
        }
        _ = try await home.pass()
        for photo in [named, matched, inOther] { try remove(photo) }
        _ = try await home.pass()
        #expect(try await forget(home, "--yes", named.string).forgotten.map(\.path) == [named.string])
        #expect(try await forget(home, "--yes", named.string, code: 66).forgotten.isEmpty)
        let below = home.gallery.pushing("Rome [1]/*.jpg").string
        let answer = try await forget(home, "--yes", below, code: 3)
        #expect(answer.forgotten.isEmpty && answer.kept.map(\.path) == [inFolder.string])
        // What is no name of anything is a wildcard still.
        let pattern = home.gallery.appending("x[0-9].jpg").string
        #expect(try await forget(home, "--yes", pattern).forgotten.map(\.path) == [matched.string])
        let left = try await home.photos(at: home.gallery).map(\.path)
        #expect(Set(left) == [inFolder.string, inOther.string])
    }

    @Test func `only what is gone for so long goes`() async throws {
        let home = try AgentHome(in: .disk)
        try await fill(home)
        try remove(home.gallery.appending("1.jpg"))
        _ = try await home.pass()
        #expect(try await forget(home, "--yes", "--missing", "--older-than", "30d").forgotten.isEmpty)
        #expect(try await forget(home, "--yes", "--missing", "--older-than", "0d").forgotten.count == 1)
        #expect(try await home.run("forget", "--missing", "--older-than", "soon").code == 64)
        #expect(try await home.run("forget").code == 64)
    }

    @Test(
        arguments: [12, 10, 6, 1])
    func `killed at any moment, the next pass comes to the end of it`(left: Int) async throws {
        let home = try AgentHome(in: .disk)
        let photos = (0..<13).map { home.gallery.appending("\($0).jpg") }
        for (number, photo) in photos.enumerated() { try photo.create(SamplePhoto.unique(number)) }
        _ = try await home.pass()
        for photo in photos.dropFirst() { try remove(photo) }
        _ = try await home.pass()
        func stored() throws -> Int { try home.store.objects().filter { $0.key.contains("/photos/") }.count }
        let killed = try home.start(["forget", "--yes", "--missing"])
        // It may be over by then: what has to be true afterwards is the same.
        // Their names are enough: a record may be gone when it is read.
        try await eventually("fewer than \(left + 1) objects") {
            try home.store.photoRecordPaths().count <= left ? true : nil
        }
        killed.send(SIGKILL)
        _ = try await killed.finished()
        let finished = try await home.run("sync")
        #expect(finished.code == 0, "\(finished)")
        #expect(try await forget(home, "--yes", "--missing").kept.isEmpty)
        #expect(try stored() == 1)
        #expect(try await home.photos(at: home.gallery).map(\.path) == [photos[0].string])
        #expect(try await home.run("verify", "--all").code == 0)
    }

    @Test func `what is left of a lost photo goes with it, and no rebuild brings it back`() async throws {
        let home = try AgentHome(more: "photos: {max_dimension: 100, keep_originals: true}")
        let lost = home.gallery.appending("a.jpg")
        try lost.create(SamplePhoto.taken(0))
        try home.gallery.appending("b.jpg").create(SamplePhoto.taken(1))
        #expect(try await home.run("sync").code == 0)
        let md5 = "\(try ContentDigest(of: SamplePhoto.taken(0)).md5)"
        let stored = try home.store.objects().filter { $0.key.contains(md5) }
        #expect(stored.count == 2)
        for object in stored {
            let file = home.store.root.appending("objects").pushing(FilePath(object.file))
            try Data("ruin".utf8).write(to: URL(filePath: file.string))
        }
        try remove(lost)
        _ = try await home.run("sync")
        #expect(try await home.run("verify", "--all").code == 3)
        #expect(try await home.photo(lost)?.state == "lost")
        let done = try await forget(home, "--yes", lost.string)
        #expect(done.deleted.count == 2 && done.kept.isEmpty)
        #expect(try home.store.objects().allSatisfy { !$0.key.contains(md5) })
        #expect(try await home.run("rebuild").code == 0)
        #expect(try await !home.run("status").text.contains("recovered"))
    }

    @Test func `a copy and its original that stay for the same reason are one line`() async throws {
        let home = try AgentHome(more: "photos: {max_dimension: 100, keep_originals: true}")
        let (gone, left) = (home.gallery.appending("a.jpg"), home.gallery.appending("b.jpg"))
        for path in [gone, left] { try path.create(SamplePhoto.taken(0)) }
        #expect(try await home.run("sync").code == 0)
        try remove(gone)
        #expect(try await home.run("sync").code == 0)
        let finished = try await home.run("forget", "--dry-run", gone.string)
        #expect(finished.code == 0, "\(finished)")
        let lines = finished.text.split(separator: "\n").filter { $0.contains("is the same photo") }
        #expect(lines.count == 1, "\(finished)")
        // A program is told of each object.
        let kept = try await forget(home, "--dry-run", gone.string).kept
        #expect(Set(kept.compactMap(\.key)).count == 2)
    }

    @Test func `a key that is named twice is told once`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let key = try #require(try await home.photo(home.gallery.appending("1.jpg"))?.key)
        #expect(try await forget(home, "--yes", key, key, code: 3).kept.map(\.key) == [key])
    }

    @Test func `of a key that is known and not lost, it says what to do in place of that`() async throws {
        let home = try AgentHome()
        try await fill(home)
        let path = home.gallery.appending("1.jpg")
        let key = try #require(try await home.photo(path)?.key)
        let finished = try await home.run("forget", "--yes", key)
        #expect(finished.code == 3, "\(finished)")
        #expect(finished.text.contains("name its path: \(path)"), "\(finished)")
        #expect(try await home.photo(path)?.key == key)
    }
}
