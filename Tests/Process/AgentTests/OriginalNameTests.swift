import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// The names of files: told by nobody who was not asked to, and kept by those who want them.
struct OriginalNameTests {
    private func manifest(_ id: String, _ home: AgentHome) throws -> (names: [String?], text: String) {
        let bytes = try home.store.root.pushing(FilePath("objects/shares/\(id)/vacation.json")).bytes
        let manifest = try JSONDecoder().decode(SharedManifest.self, from: Data(bytes))
        return (manifest.photos.map(\.name), String(decoding: bytes, as: UTF8.self))
    }

    @Test func `a share tells names when that is said, and a mirror keeps them`() async throws {
        let home = try AgentHome()
        let files = ["one camera/IMG_1.jpg", "other camera/IMG_1.JPG", "secret party.jpeg"]
        for (number, file) in files.enumerated() {
            try home.vacations.pushing(FilePath("Rome/\(file)")).create(SamplePhoto.taken(number))
        }
        _ = try await home.pass()
        let id = try #require(try await home.share("Rome").shareId)
        #expect(try manifest(id, home).names == [nil, nil, nil])
        for file in files {
            #expect(try !manifest(id, home).text.contains(FilePath(file).lastComponent?.string ?? file))
        }
        _ = try await home.mirror(id, to: "numbered", "--original-names")
        let numbered = try home.mirrorFiles("numbered").filter { $0.hasSuffix(".jpg") }.sorted()
        #expect(numbered.map { $0.prefix(4) } == ["001_", "002_", "003_"])

        let told = try await home.share("Rome", "--original-names")
        #expect(told.shareId == id)
        // Names, and no folder.
        #expect(try manifest(id, home).names == ["IMG_1.jpg", "IMG_1.JPG", "secret party.jpeg"])
        #expect(try !manifest(id, home).text.contains("camera"))
        #expect(try await home.share("Rome").shareId == id)
        #expect(try manifest(id, home).names.count { $0 != nil } == 3, "it stays as it was said")
        let page = try home.store.root.pushing(FilePath("objects/shares/\(id)/index.html")).bytes
        #expect(!String(decoding: page, as: UTF8.self).contains("secret party"))

        _ = try await home.mirror(id, to: "named", "--original-names")
        let named = try home.mirrorFiles("named").filter { !$0.hasPrefix(".") && $0 != "vacation.json" }.sorted()
        #expect(named == ["IMG_1.jpg", "IMG_1_002.JPG", "secret party.jpeg"])
        let again = try await home.mirror(id, to: "named", "--original-names")
        #expect(again.downloaded == 0 && again.alreadyThere == 3)
        let plain = try await home.mirror(id, to: "named")
        #expect(plain.downloaded == 0 && plain.alreadyThere == 3)
        // What is there keeps its name, and without the wish nobody gets them.
        let other = try await home.mirror(id, to: "numbered", "--original-names")
        #expect(other.downloaded == 0)

        _ = try await home.share("Rome", "--no-original-names")
        #expect(try manifest(id, home).names == [nil, nil, nil])
    }
}
