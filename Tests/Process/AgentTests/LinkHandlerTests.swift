import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What desktops do with `vacationphotos://share/ID`.
struct LinkHandlerTests {
    private static let root = FilePath(#filePath).removingLastComponent().pushing("../../..").lexicallyNormalized()
    private static let entry = root.pushing("examples/sync-agent-mirror.desktop")

    private func fields() throws -> [String: String] {
        String(decoding: try Self.entry.bytes, as: UTF8.self).split(separator: "\n").reduce(into: [:]) { fields, line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, !line.hasPrefix("#") { fields[parts[0]] = parts[1] }
        }
    }

    @Test(.enabled(if: !Tool.desktopFileValidate.isMissing, "needs desktop-file-validate (Debian: desktop-file-utils)"))
    func `the entry is one by the rules of desktops`() async throws {
        let home = try AgentHome()
        let finished = try await ChildProcess(
            FilePath(Tool.desktopFileValidate.rawValue), [Self.entry.string], environment: home.environment
        ).finished()
        #expect(finished.code == 0 && finished.text.isEmpty, "\(finished.text)")
    }

    @Test func `what it runs brings a share of the store into the home`() async throws {
        let fields = try fields()
        #expect(fields["MimeType"] == "x-scheme-handler/vacationphotos;")
        // The program, and what desktops put in the place of %u: one word, whatever is in it.
        let words = try #require(fields["Exec"]).split(separator: " ").map(String.init)
        #expect(words.first == "\"/usr/local/bin/sync-agent\"" && words.last == "%u")
        let home = try AgentHome()
        try await home.takeTrip(photos: 2)
        let share = try await home.share()
        let id = try #require(share.shareId)
        let link = try #require(share.link)
        #expect(link == "vacationphotos://share/\(id)")
        let finished = try await home.start(words.dropFirst().dropLast() + [link]).finished()
        #expect(finished.code == 0, "\(finished.complaint)")
        #expect(try home.tree.files(below: "home/Pictures/Shares/\(id)").count { $0.hasSuffix(".jpg") } == 2)
        for hostile in [
            "vacationphotos://share/../../etc", "vacationphotos://--help", "vacationphotos:", "--help", "/etc/passwd",
        ] {
            let finished = try await home.start(words.dropFirst().dropLast() + [hostile]).finished()
            #expect(finished.code == 64, "\(hostile)")
        }
        let link2 = try await home.start(["mirror", "https://example.invalid/index.html"]).finished()
        #expect(link2.code == 64 && link2.complaint.contains("name the folder"))
    }
}
