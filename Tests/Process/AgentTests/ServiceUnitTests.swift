import SyncTestSupport
import SystemPackage
import Testing

/// The units of systemd that come with the program.
struct ServiceUnitTests {
    private static let examples = FilePath(#filePath).removingLastComponent().pushing("../../../examples")
        .lexicallyNormalized()

    @Test(arguments: ["sync-agent.service", "sync-agent@.service"])
    func `an agent gets all the time that it needs until it watches every folder`(name: String) throws {
        let text = String(decoding: try Self.examples.pushing(FilePath(name)).bytes, as: UTF8.self)
        let lines = text.split(separator: "\n")
        // Of a unit that tells when it is ready, systemd would wait for 90 seconds.
        #expect(lines.contains("Type=notify") && lines.contains("TimeoutStartSec=infinity"))
    }
}
