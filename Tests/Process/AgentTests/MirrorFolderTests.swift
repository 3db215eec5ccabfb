import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Folders that a share is mirrored into, with the permissions of a person.
struct MirrorFolderTests {
    @Test(arguments: [mode_t(0o444), 0o000], [[], ["--watch"]])
    func `a folder that may not be entered is told as such, and not taken for an empty one`(
        mode: mode_t, options: [String]
    ) async throws {
        let home = try AgentHome()
        _ = try await home.pass()
        let folder = try home.tree.makeFolder("home/Friends/locked")
        #expect(chmod(folder.string, mode) == 0)
        defer { chmod(folder.string, 0o755) }
        let unknown = "0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"
        let finished = try await home.runBoundByPermissions(["mirror", unknown, folder.string] + options)
        #expect(finished.code == 77, "\(finished)")
        #expect(finished.complaint.contains("\(folder): no permission to look into it"), "\(finished)")
    }

    @Test func `a watch whose folder is lost tells what it fetched when the share has ended`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 2)
        let id = try #require(try await home.share().shareId)
        let folder = home.friendsFolder("Paris")
        let watch = try home.start(["mirror", "--watch", "--json", "--interval", "1", id, folder.string])
        // The last that the first look writes.
        try await eventually("the first look's end") {
            let hidden = try? folder.appending(".sync-agent-mirror.json").bytes
            let text = hidden.map { String(decoding: $0, as: UTF8.self) }
            return text?.contains("\"isComplete\" : true") == true ? () : nil
        }
        #expect(rename(folder.string, home.friendsFolder("away").string) == 0)
        #expect(try await home.run("shares", "--revoke", id, "--yes").code == 0)
        let finished = try await watch.finished()
        #expect(finished.code == 66, "\(finished)")
        let answer = try JSONDecoder().decode(MirrorAnswer.self, from: Data(finished.output))
        #expect(answer.downloaded == 2 && answer.ended == "gone")
    }
}
