import FoundationEssentials
import SyncConfig
import SystemPackage
import Testing

@Suite struct SecretTests {
    private let text = ConfigText(
        "user: ana\nwatch: [{kind: gallery, path: /p}]\nnotify:\n  webhook: https://hooks.example/token")

    @Test("A secret in a file that others may open is warned of, with the remedy", arguments: [0o644, 0o640, 0o602])
    func openFile(mode: UInt16) throws {
        let warnings = try text.load(mode: FilePermissions(rawValue: CInterop.Mode(mode))).warnings
        #expect(
            warnings.map(\.description) == [
                "line 4: notify.webhook: is a secret, and others may open the file; "
                    + "run: chmod 600 '/home/ana/.config/sync-agent/config.yaml'"
            ])
    }

    @Test("The owner's own file, and one without a secret, are fine")
    func fine() throws {
        #expect(try text.load(mode: [.ownerReadWrite]).warnings.isEmpty)
        let without = ConfigText("user: ana\nwatch: [{kind: gallery, path: /p}]\nnotify: {webhook: null}")
        #expect(try without.load(mode: [.ownerReadWrite, .otherRead]).warnings.isEmpty)
    }

    @Test("Printing the settings does not print the secret")
    func redacted() throws {
        let settings = try text.settings()
        var dumped = "\(settings) \(String(reflecting: settings))"
        dump(settings, to: &dumped)
        #expect(!dumped.contains("token"))
        #expect(dumped.contains("(redacted)"))
        #expect(settings.notify.webhook?.revealed.absoluteString == "https://hooks.example/token")
    }
}
