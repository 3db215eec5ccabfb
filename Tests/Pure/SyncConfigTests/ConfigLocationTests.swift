import SyncConfig
import SystemPackage
import Testing

@Suite struct ConfigLocationTests {
    struct Row: Sendable {
        var option: String?
        var environment: [String: String]
        var file: FilePath
        var state: FilePath = "/home/ana/.local/state/sync-agent"
    }

    @Test(
        arguments: [
            Row(environment: ["HOME": "/home/ana"], file: "/home/ana/.config/sync-agent/config.yaml"),
            Row(
                environment: ["HOME": "/home/ana", "XDG_CONFIG_HOME": "/etc/xdg", "XDG_STATE_HOME": "/var/lib"],
                file: "/etc/xdg/sync-agent/config.yaml", state: "/var/lib/sync-agent"),
            Row(
                environment: ["HOME": "/home/ana", "XDG_CONFIG_HOME": "/etc/xdg", "SYNC_AGENT_CONFIG": "/b.yaml"],
                file: "/b.yaml"),
            Row(
                option: "/a.yaml", environment: ["HOME": "/home/ana", "SYNC_AGENT_CONFIG": "/b.yaml"], file: "/a.yaml"),
            Row(option: "x/../a.yaml", environment: ["HOME": "/home/ana"], file: "/here/a.yaml"),
            Row(option: "~/a.yaml", environment: ["HOME": "/home/ana"], file: "/home/ana/a.yaml"),
            Row(
                environment: ["HOME": "/home/ana", "SYNC_AGENT_CONFIG": "", "XDG_CONFIG_HOME": "relative"],
                file: "/home/ana/.config/sync-agent/config.yaml"),
            Row(option: "/a.yaml", environment: ["XDG_STATE_HOME": "/s"], file: "/a.yaml", state: "/s/sync-agent"),
        ])
    func `the nearest word wins: option, variable, XDG, home`(row: Row) throws {
        let location = try ConfigLocation(
            option: row.option, environment: row.environment, workingFolder: "/here")
        #expect(location.file == row.file)
        #expect(location.stateFolder == row.state)
    }

    @Test func `without a home folder the message says what to set`() {
        let error = #expect(throws: ConfigError.self) {
            try ConfigLocation(option: "/a.yaml", environment: [:], workingFolder: "/here")
        }
        #expect(
            error?.description
                == "configuration: neither XDG_STATE_HOME nor HOME names an absolute folder; set one of them")
    }

    @Test func `a path below the home folder needs one`() throws {
        let location = ConfigLocation(file: "/etc/a.yaml", stateFolder: "/s", home: nil)
        let bucket = "user: ana\nstore: {type: s3, bucket: abc}\n"
        #expect(try ConfigFile.parse(Array(bucket.utf8), location: location).settings.user == "ana")
        let error = #expect(throws: ConfigError.self) {
            try ConfigFile.parse(Array("user: ana".utf8), location: location)
        }
        #expect(error?.problems.map(\.path) == ["store.path"])
        #expect(error?.problems.first?.message.contains("HOME is not set") == true)
    }
}
