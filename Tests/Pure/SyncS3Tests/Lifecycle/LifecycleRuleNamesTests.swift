import Testing

@testable import SyncS3

@Suite struct LifecycleRuleNamesTests {
    @Test(
        arguments: [
            ("", "sync-agent-shares", "sync-agent-shares"), ("", "sync-agent-shares in backup/", nil),
            ("", "logs", nil), ("", "", nil), ("backup/", "sync-agent-shares in backup/", "sync-agent-shares"),
            ("backup/", "sync-agent-shares", nil), ("backup/", "sync-agent-shares in other/", nil),
            ("backup/", "shares in backup/", nil),
        ] as [(String, String, String?)])
    func `A store knows its own rules from those of another`(prefix: String, wire: String, ours: String?) {
        let names = LifecycleRuleNames(prefix: prefix)
        #expect(names.ours(wire) == ours)
        if let ours { #expect(names.wire(ours) == wire) }
    }

    @Test(arguments: [
        ("backup/", "sync-agent-shares"), ("backup/", "sync-agent-shares in other/"), ("", "sync-agent-x in other/"),
    ])
    func `Another installation's rule never has a name of ours`(prefix: String, wire: String) {
        let foreign = LifecycleRuleNames(prefix: prefix).foreign(wire)
        #expect(foreign.hasPrefix(wire) && foreign.hasSuffix("/"))
    }

    @Test func `Names of other people stay`() {
        #expect(LifecycleRuleNames(prefix: "backup/").foreign("delete logs") == "delete logs")
    }
}
