import FoundationEssentials
import SyncCore

extension StoreUnderTest {
    func manyObjectsAreDeletedAtOnce() async throws {
        let names = (0..<30).map { "many/\($0)" } + ["many/with space", "many/Zürich & <co>", "many/per%41"]
        for name in names { try await put(name, at: key(name)) }
        try await put("cold", at: key("many/archived"), storageClass: .deepArchive)
        try await put("kept", at: key("kept"))
        let keys = try (names + ["many/archived", "many/nothing"]).map { try key($0) }
        try requireEqual(try await store.delete(keys), [:], "failures")
        try requireSame(try await store.keys(prefix: prefix + "/"), [try key("kept").rawValue])
        try requireEqual(try await store.delete([]), [:], "failures of nothing")
    }

    /// Rules belong to the whole store: these concern a prefix of their own, and the one of another program stays behind,
    /// where there are such.
    func lifecycleRulesComeBack() async throws {
        guard store.capabilities.lifecycle == .byRules, !gaps.contains(.keepsNoRules) else {
            try await requireError(.unsupported, from: "lifecycle") { _ = try await store.lifecycle() }
            try await requireError(.unsupported, from: "setLifecycle") {
                try await store.setLifecycle(LifecycleConfiguration())
            }
            return
        }
        var wanted = [
            LifecycleRule(
                id: "sync-agent-archive",
                content: .own(
                    TierRule(
                        prefix: "\(prefix)/photos/", largerThan: 131_072,
                        transition: TierRule.Transition(afterDays: 180, storageClass: .deepArchive)))),
            LifecycleRule(
                id: "sync-agent-expire", content: .own(TierRule(prefix: "\(prefix)/shares/", expireAfterDays: 30))),
            LifecycleRule(
                id: "sync-agent-abort", content: .own(TierRule(prefix: "\(prefix)/", abortUploadsAfterDays: 7))),
        ]
        let foreign = LifecycleRule(
            id: "of another program",
            content: .foreign(
                """
                <Rule><ID>of another program</ID><Filter><Tag><Key>kind</Key><Value>tmp</Value></Tag></Filter>\
                <Status>Disabled</Status><Expiration><Days>3650</Days></Expiration></Rule>
                """))
        try await store.setLifecycle(LifecycleConfiguration(rules: [foreign] + wanted))
        let told = try await store.lifecycle()
        if gaps.contains(.forgetsRuleSizes), case .own(var rule) = wanted[0].content {
            rule.largerThan = nil
            wanted[0].content = .own(rule)
        }
        for rule in wanted {
            try requireEqual(told.rules.first { $0.id == rule.id }, rule, "rule \(rule.id)")
        }
        try requireEqual(told.rules.count, 4, "rules")

        // Ours go; the other's stays as the store told it.
        var left = told
        left.rules.removeAll { $0.id != foreign.id }
        try await store.setLifecycle(left)
        try requireEqual(try await store.lifecycle(), left, "what is left")
        guard case .foreign = left.rules.first?.content else {
            throw ContractViolation(description: "the rule of another program is gone: \(left)")
        }
    }

    func aLinkIsReadable() async throws {
        let key = try key("linked/Zürich & co+1.jpg")
        try await put("a photo", at: key)
        guard store.capabilities.links else {
            try await requireError(.unsupported, from: "link") {
                _ = try await store.link(to: key, lasting: .seconds(600))
            }
            return
        }
        guard let fetch else { throw ContractViolation(description: "nobody can read links here") }
        let link = try await store.link(to: key, lasting: .seconds(600))
        try requireEqual(String(decoding: try await fetch(link.url), as: UTF8.self), "a photo", "text")
        let length = link.endsAt.timeIntervalSince(clock.now())
        try require(length > 500 && length <= 601, "ten minutes last \(length) s")
        let long = try await store.link(to: key, lasting: .seconds(30 * 86_400))
        try require(long.limit != nil, "a link for 30 days has no limit: \(long.endsAt)")
        try require(long.endsAt.timeIntervalSince(clock.now()) <= 7 * 86_400 + 1, "it lasts until \(long.endsAt)")
        try requireEqual(String(decoding: try await fetch(long.url), as: UTF8.self), "a photo", "text by a long link")
    }

    func removingLeftoversHarmsNothing() async throws {
        try await put("a photo", at: key("photo"))
        try await store.removeLeftovers()
        try await store.removeLeftovers()
        try requireEqual(try await text(at: key("photo")), "a photo", "text")
    }
}
