import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What a person meets first: help, completion, `init`.
struct FirstStepsTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test(
        arguments: [
            ["init"], ["run"], ["sync"], ["status"], ["restore"], ["restores"], ["lifecycle", "show"],
            ["lifecycle", "apply"], ["cost"], ["config", "check"], ["config", "reference"],
        ])
    func `the help of every command has examples`(command: [String]) async throws {
        let finished = try await home.start(command + ["--help"]).finished()
        #expect(finished.code == 0)
        #expect(finished.text.contains("EXAMPLES\n  sync-agent \(command.joined(separator: " "))"))
    }

    @Test func `the program's own help lists the commands and the exit codes`() async throws {
        let finished = try await home.run("--help")
        #expect(finished.code == 0)
        for word in ["init", "run", "sync", "status", "config", "EXIT CODES", "64", "66", "69", "75", "77", "78"] {
            #expect(finished.text.contains(word))
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completion scripts name the commands`(shell: String) async throws {
        let finished = try await home.run("--generate-completion-script", shell)
        #expect(finished.code == 0)
        for command in ["init", "run", "sync", "status", "config"] { #expect(finished.text.contains(command)) }
    }

    @Test func `bash reads its completion script without a complaint`() async throws {
        let script = try home.tree.write(
            try await home.run("--generate-completion-script", "bash").output, to: "script")
        let finished = try await ChildProcess("/bin/bash", ["-n", script.string], environment: [:]).finished()
        #expect(finished.code == 0 && finished.complaint == "")
        #expect(try home.tree.read("script").count > 1_000)
    }

    @Test
    func `after init everything is in its place: folders, store, a private configuration, a private state folder`()
        async throws
    {
        let empty = ["SYNC_AGENT_CONFIG": ""]
        let finished = try await home.start(["init"], environment: empty).finished()
        #expect(finished.code == 0)
        let configuration = home.tree.path("home/.config/sync-agent/config.yaml")
        #expect(finished.text.contains("\(configuration)"))
        #expect(try mode(of: configuration) == 0o600)
        #expect(try await home.start(["config", "check"], environment: empty).finished().code == 0)

        try home.tree.path("home/Pictures/Gallery/a.jpg").create(SamplePhoto.unique(1))
        let pass = try await home.start(["sync"], environment: empty).finished()
        #expect(pass.code == 0 && pass.text.hasPrefix("1 photo stored"))
        #expect(try mode(of: home.tree.path("state/sync-agent")) == 0o700)
        let store = StoreFolder(root: home.tree.path("home/.local/share/sync-agent/store"))
        #expect(try store.objects().count == 1)
    }

    @Test func `init leaves an existing configuration as it is`() async throws {
        let before = try home.tree.read("config.yaml")
        let finished = try await home.run("init")
        #expect(finished.code == 78)
        #expect(finished.complaint.contains("exists already and was left as it is"))
        #expect(try home.tree.read("config.yaml") == before)
    }

    @Test(
        arguments: [
            (["--root", "/proc/nothing"], "name a folder on another one"),
            (["--store-path", "/dev/null/store"], "name another folder"),
            (["--config", "/proc/config.yaml"], "its folder is not there"),
            (["--config", "/proc"], "name a file in it"),
        ])
    func `init makes all of it or nothing, and says what to do`(options: [String], advice: String) async throws {
        let finished = try await home.start(["init"] + options, environment: ["SYNC_AGENT_CONFIG": ""]).finished()
        #expect(finished.code != 0 && finished.text == "")
        #expect(finished.complaint.contains(advice), "\(finished.complaint)")
        #expect(try home.tree.files(below: "home").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home.tree.path("home/Pictures").string))
        #expect(!FileManager.default.fileExists(atPath: home.tree.path("home/.config/sync-agent").string))
    }

    @Test(
        arguments: [
            (["--store-path", "STATE/sync-agent/store"], "is in the state folder, STATE/sync-agent,", 78),
            (["--store-path", "STATE"], "STATE holds the state folder, STATE/sync-agent,", 78),
            (["--store-path", "LINK"], "LINK holds the state folder, STATE/sync-agent,", 78),
            (["--store-path", "NEW", "--config", "NEW/config.yaml"], "NEW/config.yaml is in the store, NEW,", 64),
            (["--config", "STATE/sync-agent/a.yaml"], "a.yaml is in the state folder, STATE/sync-agent,", 64),
        ])
    func `init keeps store, state folder and configuration apart`(
        options: [String], reason: String, code: Int
    ) async throws {
        let state = try home.tree.makeFolder("state")
        let link = home.tree.path("link")
        try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: state.string)
        let named = { (text: String) in
            text.replacing("STATE", with: state.string).replacing("LINK", with: link.string)
                .replacing("NEW", with: self.home.tree.path("new").string)
        }
        let finished = try await home.start(
            ["init"] + options.map(named), environment: ["SYNC_AGENT_CONFIG": ""]
        ).finished()
        #expect(finished.code == Int32(code) && finished.complaint.contains(named(reason)), "\(finished.complaint)")
        #expect(finished.complaint.contains("; name a"), "the next step")
        #expect(try home.tree.files() == ["config.yaml"])
    }

    @Test(
        arguments: [
            (["--root", "NEW", "--store-path", "NEW/Gallery"], "--root: is the same folder as the store, NEW/Gallery"),
            (["--root", "NEW/a", "--store-path", "NEW"], "--root: lies inside the store, NEW; the agent would"),
            (["--user", "a/b"], "--user: found a/b"),
            (["--store", "s3", "--bucket", "photos", "--prefix", "../x"], "--prefix: found \"../x\""),
            (["--store", "s3", "--bucket", "photos", "--endpoint", "ftp://x"], "--endpoint: found ftp://x"),
        ])
    func `init tells of its options, not of lines of a file that it does not write`(
        options: [String], reason: String
    ) async throws {
        let named = { (text: String) in text.replacing("NEW", with: self.home.tree.path("new").string) }
        let finished = try await home.start(
            ["init"] + options.map(named), environment: ["SYNC_AGENT_CONFIG": ""]
        ).finished()
        #expect(finished.code == 78 && finished.complaint.contains(named(reason)), "\(finished.complaint)")
        #expect(!finished.complaint.contains("line ") && !finished.complaint.contains("watch["))
        #expect(finished.complaint.components(separatedBy: "lies inside").count <= 2, "told once")
    }

    @Test func `a configuration in the store is no good one`() async throws {
        #expect(try await home.run("sync").code == 0)
        let inside = home.store.root.appending("config.yaml")
        try home.tree.path("config.yaml").move(to: inside)
        let finished = try await home.start(["config", "check", "--config", inside.string]).finished()
        #expect(finished.code == 78 && finished.complaint.contains("is in the store, \(home.store.root)"))
        let doctor = try await home.start(["doctor", "--config", inside.string]).finished()
        #expect(doctor.code != 0 && (doctor.text + doctor.complaint).contains("move the file out of it"))
    }

    @Test(arguments: [true, false])
    func `a configuration is named by --config before the command or after it`(comesFirst: Bool) async throws {
        let configuration = home.tree.path("other.yaml")
        try home.tree.path("config.yaml").move(to: configuration)
        let option = ["--config", configuration.string]
        let finished = try await home.start(comesFirst ? option + ["status"] : ["status"] + option).finished()
        #expect(finished.code == 0 && finished.text.contains("not running"))
    }

    private func mode(of path: FilePath) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `the help of the config group has examples`() async throws {
        #expect(try await home.run("config", "--help").text.contains("EXAMPLES\n"))
    }
}
