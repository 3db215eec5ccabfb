import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What the dynamic linker loads with the program, and what waits until it is needed.
@Suite struct StartLibraryTests {
    private static let opened = ["libcrypto", "libcurl", "libphonenumber", "libprotobuf", "libarchive", "libicudata"]

    @Test func `libraries that a command may do without are not loaded at the start`() async throws {
        let home = try AgentHome()
        // ld.so(8): names what it loads, and ends.
        let told = try await home.start(["--version"], environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).finished()
        #expect(told.text.contains("libsqlite3"))
        for name in Self.opened { #expect(!told.text.contains("\(name)."), "\(told.text)") }
    }

    /// What the dynamic linker finds in place of libcrypto is no library.
    private func withoutCrypto(_ home: AgentHome, _ words: [String]) async throws -> Finished {
        let file = try home.tree.write("no library", to: "libraries/libcrypto.so.3")
        return try await home.start(
            words, environment: ["LD_LIBRARY_PATH": file.removingLastComponent().string]
        ).finished()
    }

    @Test(arguments: [
        ["sync"], ["doctor"], ["status", "--refresh"], ["status", "--machines"], ["status", "--json", "--refresh"],
    ])
    func `without libcrypto a command does nothing, and says what is missing`(words: [String]) async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(0))
        let finished = try await withoutCrypto(home, words)
        #expect(finished.code == 1 && finished.text.isEmpty, "\(finished)")
        #expect(finished.complaint.contains("libcrypto.so.3"))
        #expect(finished.complaint.hasSuffix("; install OpenSSL 3 again\n"), "\(finished.complaint)")
    }

    @Test func `without libcrypto status tells what is known`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        // How much room there is may change meanwhile.
        let lines = { (text: String) in text.split(separator: "\n").filter { !$0.contains("\"freeBytes\"") } }
        let known = try await home.run("status", "--json")
        let status = try await withoutCrypto(home, ["status", "--json"])
        #expect(status.code == 0 && lines(status.text) == lines(known.text), "\(status)")
        #expect(lines(known.text).count > 10)
    }

    @Test func `without libcrypto status asks no bucket, and says why`() async throws {
        let port = try SilentPort(listens: true)
        let home = try AgentHome(
            store: "{type: s3, bucket: photos, region: us-east-1, endpoint: 'http://127.0.0.1:\(port.number)'}",
            environment: ["AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all"])
        let status = try await withoutCrypto(home, ["status", "--json"])
        #expect(status.code == 0 && status.text.contains("install OpenSSL 3 again"), "\(status)")
        #expect(!port.wasVisited)
    }
}
