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
}
