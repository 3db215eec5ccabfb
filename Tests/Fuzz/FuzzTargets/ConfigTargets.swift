import SystemPackage

@testable import SyncConfig
@testable import SyncCore
@testable import SyncS3

/// Readers of what a person has written for the program.
enum ConfigTargets {
    private static let location = ConfigLocation(
        file: "/etc/sync-agent.yaml", stateFolder: "/var/lib/sync-agent", home: "/home/me")
    /// A seed has it as the value of each key that is a secret.
    private static let secret = "t0p-s3cret-v4lue"

    /// Whatever is wrong is told with a line of the file, in words of one line, and tells no secret.
    static func config(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        for kind in [ProfileFile.Kind.config, .credentials] { _ = ProfileFile(text, kind: kind) }
        do {
            _ = try PriceFile.load(bytes)
        } catch {
            require(error, lines: bytes)
        }
        do {
            let loaded = try ConfigFile.parse(bytes, mode: FilePermissions(rawValue: 0o644), location: location)
            loaded.warnings.forEach { require($0, lines: bytes) }
            let again = try? ConfigFile.parse(bytes, mode: FilePermissions(rawValue: 0o644), location: location)
            promise(again == loaded, "one text has two meanings")
            return true
        } catch {
            promise(!error.problems.isEmpty, "a configuration is refused without a reason")
            require(error, lines: bytes)
            return false
        }
    }

    private static func require(_ error: ConfigError, lines bytes: [UInt8]) {
        error.problems.forEach { require($0, lines: bytes) }
    }

    private static func require(_ problem: ConfigProblem, lines bytes: [UInt8]) {
        let words = problem.description
        promise(words.unicodeScalars.allSatisfy(ShareTargets.isPlain), "a problem moves the cursor")
        promise(words.firstRange(of: secret) == nil, "a problem tells a secret")
        promise(words.utf8.count < 4_000, "a problem is as long as its file")
        // CR, NEL and the separators of Unicode end lines too: there are no more lines than bytes.
        if let line = problem.line { promise((1...bytes.count + 2).contains(line), "line \(line) is not in the file") }
    }
}
