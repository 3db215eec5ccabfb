import FoundationEssentials
import SyncConfig
import SyncCore
import SystemPackage
import Testing

@Suite struct ConfigFileTests {
    private let folder: FilePath

    init() throws {
        folder = FilePath(FileManager.default.temporaryDirectory.path).appending("config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
    }

    /// Loads `name` in a folder that is gone afterwards.
    private func load(_ name: String, containing bytes: [UInt8]? = nil, mode: FilePermissions = .ownerReadWrite) throws
        -> LoadedSettings
    {
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let file = folder.appending(name)
        if let bytes {
            let descriptor = try FileDescriptor.open(file, .writeOnly, options: [.create], permissions: mode)
            _ = try descriptor.closeAfter { try descriptor.writeAll(bytes) }
        }
        return try ConfigFile.load(ConfigLocation(file: file, stateFolder: "/state", home: "/home/ana"))
    }

    private func problem(_ name: String, containing bytes: [UInt8]? = nil) -> String? {
        let error = #expect(throws: ConfigError.self) { try load(name, containing: bytes) }
        return error?.problems.map(\.message).joined(separator: "\n")
    }

    @Test func `a file is read with its permissions`() throws {
        let text = "user: ana\nwatch: [{kind: gallery, path: /p}]\nnotify: {webhook: \"https://h.example\"}\n"
        let loaded = try load("config.yaml", containing: Array(text.utf8), mode: [.ownerReadWrite, .otherRead])
        #expect(loaded.settings.user == "ana")
        #expect(loaded.warnings.map(\.path) == ["notify.webhook"])
    }

    @Test(
        arguments: ["none.yaml", "none/none.yaml"])
    func `where there is no configuration, the message says how to get one`(name: String) {
        #expect(problem(name)?.contains("run `sync-agent init`") == true)
    }

    @Test func `a folder in the place of the file is told as such`() {
        #expect(problem("") == "this is a folder; name the configuration file in it")
    }

    @Test func `a file that cannot be opened is told with the reason`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending("loop").string, withDestinationPath: "loop")
        #expect(problem("loop")?.hasPrefix("cannot be read: ") == true)
    }

    @Test func `a file that is too large is not read to its end`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: ConfigFile.maximumSize + 1)
        #expect(problem("config.yaml", containing: bytes)?.contains("larger than") == true)
    }

    @Test(arguments: ["embedded.yaml", "s3.yaml"])
    func `the examples are configurations without a problem or a warning`(name: String) throws {
        var examples = FilePath(#filePath)
        for _ in 0..<4 { examples.removeLastComponent() }
        let file = examples.appending("examples").appending(name)
        let loaded = try ConfigFile.load(ConfigLocation(file: file, stateFolder: "/state", home: "/home/ana"))
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.settings.watch.map(\.kind) == [.gallery, .vacations, .projects])
    }
}
