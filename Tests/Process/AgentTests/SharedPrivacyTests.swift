import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What is in a share, in the words of a reader that knows every camera's tags.
@Suite(.enabled(if: !Tool.exiftool.isMissing, "needs exiftool (Debian: libimage-exiftool-perl)"))
struct SharedPrivacyTests {
    private static let cameras = ["canon", "iphone", "nikon", "offset", "profile"]
    /// Groups and tags of which none may be there: positions, maker notes, serial numbers, names, texts.
    private static let telling =
        "GPS|XMP|IPTC|Photoshop|MakerNote|Nikon|Canon|Apple|Samsung|Serial|Owner|Artist|Creator|Copyright|Comment|"
        + "Software|HostComputer|ImageUniqueID|Make\\b|Model\\b|Lens|Thumbnail|PreviewImage"

    @Test(
        arguments: ["reduced", "full"])
    func `no object of a share tells where, by whom or with which camera it was taken`(quality: String) async throws {
        let home = try AgentHome()
        let fixtures = FilePath(#filePath).removingLastComponent().pushing("../../Disk/PhotoFixtures")
        for camera in Self.cameras {
            try home.vacations.pushing(FilePath("Rome/\(camera).jpg"))
                .create(fixtures.appending("camera-\(camera).jpg").bytes)
        }
        _ = try await home.pass()
        // The reader finds what is looked for where it is.
        let telling = try Regex(Self.telling)
        let taken = try await tags(of: home.vacations.appending("Rome"), home)
        #expect(taken.count { $0.contains(telling) } > 20)

        let share = try await home.share("--quality", quality, "Rome")
        #expect(share.photoCount == Self.cameras.count && share.skipped.isEmpty)
        let id = try #require(share.shareId)
        let objects = home.store.root.pushing(FilePath("objects/shares/\(id)"))
        let shown = try await tags(of: objects, home)
        #expect(shown.filter { $0.contains(telling) } == [])
        #expect(
            shown.count { $0.hasPrefix("[ExifIFD]") && $0.contains(" DateTimeOriginal ") } == Self.cameras.count,
            "the times stay")
    }

    /// Lines such as `[ExifIFD] DateTimeOriginal : 2024:06:15 10:00:00`, of all JPEGs below a folder; without what a colour
    /// profile tells of itself, and without the names of files.
    private func tags(of folder: FilePath, _ home: AgentHome) async throws -> [String] {
        let output = try await Tool.run(
            "/usr/bin/exiftool",
            ["-a", "-u", "-G1", "-s", "-r", "-q", "-ext", "jpg", "--ICC_Profile:all", "--System:all", folder.string],
            home: home)
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("[") }
    }
}
