import FoundationEssentials
import SyncConfig
import SystemPackage
import Testing

@Suite struct SecretTests {
    private let text = ConfigText(
        "user: ana\nwatch: [{kind: gallery, path: /p}]\nnotify:\n  webhook: https://hooks.example/token")

    @Test(arguments: [0o644, 0o640, 0o602])
    func `a secret in a file that others may open is warned of, with the remedy`(mode: UInt16) throws {
        let warnings = try text.load(mode: FilePermissions(rawValue: CInterop.Mode(mode))).warnings
        #expect(
            warnings.map(\.description) == [
                "line 4: notify.webhook: is a secret, and others may open the file; "
                    + "run: chmod 600 '/home/ana/.config/sync-agent/config.yaml'"
            ])
    }

    @Test func `the owner's own file, and one without a secret, are fine`() throws {
        #expect(try text.load(mode: [.ownerReadWrite]).warnings.isEmpty)
        let without = ConfigText("user: ana\nwatch: [{kind: gallery, path: /p}]\nnotify: {webhook: null}")
        #expect(try without.load(mode: [.ownerReadWrite, .otherRead]).warnings.isEmpty)
    }

    @Test(
        arguments: [
            "photos: SECRET", "photos: \"SECRET\"", "watch: SECRET", "store: !SECRET x", "SECRET: 1",
            "photos: {SECRET: 1}",
            "SECRET:\n  a: 1", "photos: {quality: !SECRET 80}", "photos: {quality: !<SECRET> 80}",
            "photos: {quality: SECRET}",
            "SECRET: 1\nSECRET: 2", "photos: {quality: 80, SECRET: 1, SECRET: 2}", "watch: [SECRET]",
            "watch: [{SECRET: 1}]",
            "photos: SECRET\nphotos: SECRET", "notify: SECRET", "photos: *SECRET", "restore: {tier: SECRET}",
            "store: {type: SECRET}", "retention: {at: SECRET}", "SECRET", "- SECRET",
        ], ["hunter2", "s3cr3t", "Tr0ub4dor", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAIOSFODNN7EXAMPLE"])
    func `a secret is not repeated in an error, wherever in the file it stands`(text: String, secret: String) {
        let problems = ConfigText("user: ana\n" + text.replacing("SECRET", with: secret)).problems
        #expect(!problems.isEmpty)
        #expect(!problems.contains { $0.contains(secret) }, "\(problems)")
    }

    @Test(
        arguments: ["photos: SECRET", "watch: SECRET", "watch: [SECRET]", "photos: !SECRET x"],
        ["swordfish", "correct-horse-battery-staple"])
    func `a secret of plain words is not repeated where no value was asked for`(text: String, secret: String) {
        let problems = ConfigText("user: ana\n" + text.replacing("SECRET", with: secret)).problems
        #expect(!problems.isEmpty && !problems.contains { $0.contains(secret) }, "\(problems)")
    }

    @Test func `printing the settings does not print the secret`() throws {
        let settings = try text.settings()
        var dumped = "\(settings) \(String(reflecting: settings))"
        dump(settings, to: &dumped)
        #expect(!dumped.contains("token"))
        #expect(dumped.contains("(redacted)"))
        #expect(settings.notify.webhook?.revealed.absoluteString == "https://hooks.example/token")
    }
}
