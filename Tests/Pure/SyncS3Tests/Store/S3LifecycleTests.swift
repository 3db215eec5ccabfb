import SyncCore
import SyncS3
import Testing

@Suite struct S3LifecycleTests {
    typealias Answer = ScriptedTransport.Answer

    private static let minimum = "x-amz-transition-default-minimum-object-size"
    private static let none = Answer.error(404, "NoSuchLifecycleConfiguration", headers: [minimum: "usual"])
    private static let foreign = "<Rule><ID>logs</ID><New/></Rule>"
    private static let document = "<LifecycleConfiguration xmlns:x=\"urn:x\">\(foreign)</LifecycleConfiguration>"
    private static let shares = LifecycleRule(
        id: "sync-agent-shares", content: .own(TierRule(prefix: "shares/", expireAfterDays: 31)))

    @Test func `A bucket without rules has none`() async throws {
        let made = try ScriptedStore([Self.none])
        #expect(
            try await made.store.lifecycle() == LifecycleConfiguration(rules: [], defaultMinimumSize: "usual"))
        #expect(made.store.capabilities.lifecycle == .byRules)
    }

    @Test(
        arguments: [
            (.error(404, "NoSuchBucket"), .storeMissing), (.error(501, "NotImplemented"), .unsupported),
            (.error(403, "AccessDenied"), .accessDenied), (.error(200, "InternalError"), .serverFailed),
            (.reply(200, [:], "<LifecycleConfiguration><Rule>"), .invalidResponse),
            // rclone overlooks the question and lists.
            (ScriptedStore.emptyList, .unsupported),
        ] as [(Answer, StoreError.Code)])
    func `Rules that cannot be read are never replaced`(answer: Answer, expected: StoreError.Code) async throws {
        for _ in 1...2 {
            let made = try ScriptedStore([answer])
            #expect(try await ScriptedStore.code { _ = try await made.store.lifecycle() } == expected)
        }
        let made = try ScriptedStore([answer])
        let code = try await ScriptedStore.code {
            try await made.store.setLifecycle(LifecycleConfiguration(rules: [Self.shares]))
        }
        #expect(code == expected)
        #expect(made.transport.requests.map(\.method) == [.get])
    }

    @Test func `Rules go into the document that is there`() async throws {
        let made = try ScriptedStore([.reply(200, [:], Self.document), .reply(200)], change: { $0.prefix = "p" })
        let rules = [LifecycleRule(id: "logs", content: .foreign(Self.foreign)), Self.shares]
        try await made.store.setLifecycle(LifecycleConfiguration(rules: rules, defaultMinimumSize: "varies"))
        let put = try #require(made.transport.requests.last)
        #expect(put.method == .put && put.headers[Self.minimum] == "varies")
        #expect(put.text.hasPrefix("<LifecycleConfiguration xmlns:x=\"urn:x\">\(Self.foreign)<Rule>"))
        #expect(put.text.contains("<ID>sync-agent-shares in p/</ID><Filter><Prefix>p/shares/</Prefix></Filter>"))
    }

    @Test func `The last rule is not removed`() async throws {
        let made = try ScriptedStore([.reply(200, [:], Self.document), Self.none])
        let code = try await ScriptedStore.code { try await made.store.setLifecycle(LifecycleConfiguration()) }
        #expect(code == .invalidRequest)
        try await made.store.setLifecycle(LifecycleConfiguration())
        #expect(made.transport.requests.map(\.method) == [.get, .get])
    }

    @Test func `A name that S3 does not take is told before it is sent`() async throws {
        let made = try ScriptedStore([Self.none], change: { $0.prefix = String(repeating: "p", count: 240) })
        let error = await #expect(throws: StoreError.self) {
            try await made.store.setLifecycle(LifecycleConfiguration(rules: [Self.shares]))
        }
        #expect(error?.code == .invalidRequest && error?.message.contains("shorten store.prefix") == true)
    }

    @Test(
        arguments: [
            (.error(400, "MalformedXML"), .invalidRequest), (.error(403, "AccessDenied"), .accessDenied),
            (.error(200, "InternalError"), .serverFailed), (.reply(204), nil),
        ] as [(Answer, StoreError.Code?)])
    func `A refusal is told`(answer: Answer, expected: StoreError.Code?) async throws {
        let made = try ScriptedStore([Self.none, answer])
        let code = try await ScriptedStore.code {
            try await made.store.setLifecycle(LifecycleConfiguration(rules: [Self.shares]))
        }
        #expect(code == expected)
    }
}
