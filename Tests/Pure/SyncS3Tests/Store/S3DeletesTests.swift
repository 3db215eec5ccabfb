import SyncCore
import SyncS3
import Testing

@Suite struct S3DeletesTests {
    typealias Answer = ScriptedTransport.Answer

    private static let done = Answer.reply(200, [:], "<DeleteResult/>")

    private func keys(_ names: String...) throws -> [ObjectKey] { try names.map { try ObjectKey($0) } }

    @Test func `Nothing to delete is no request`() async throws {
        let made = try ScriptedStore([])
        #expect(try await made.store.delete([ObjectKey]()) == [:])
        #expect(made.transport.requests.isEmpty)
    }

    @Test func `Each request takes a thousand keys`() async throws {
        let made = try ScriptedStore([Self.done, Self.done, Self.done])
        let keys = try (1...2_500).map { try ObjectKey("k\($0)") }
        #expect(try await made.store.delete(keys) == [:])
        #expect(
            made.transport.requests.map { $0.text.ranges(of: "<Object>").count }
                == [1_000, 1_000, 500])
    }

    @Test func `Failures are told by key, and what is not there is none`() async throws {
        let made = try ScriptedStore([
            .reply(
                200, [:],
                "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error>"
                    + "<Error><Key>b</Key><Code>NoSuchKey</Code></Error>"
                    + "<Error><Key>c</Key><Code>SlowDown</Code></Error>"
                    + "<Error><Key>d</Key><Code>Unheard</Code><Message>of</Message></Error></DeleteResult>")
        ])
        let failures = try await made.store.delete(try keys("a", "b", "c", "d", "e"))
        #expect(
            failures.mapValues(\.code) == [
                try ObjectKey("a"): .accessDenied, try ObjectKey("c"): .throttled, try ObjectKey("d"): .serverFailed,
            ])
        #expect(failures[try ObjectKey("a")]?.key == "a")
        #expect(failures[try ObjectKey("d")]?.detail == "Unheard")
    }

    @Test(
        arguments: [
            (Answer.reply(200, [:], "<DeleteResult><Error><Key>z</Key></Error></DeleteResult>"), .invalidResponse),
            (.reply(200, [:], "<DeleteResult><Err"), .invalidResponse), (.error(200, "InternalError"), .serverFailed),
            (.error(503, "SlowDown"), .throttled), (.error(403, "AccessDenied"), .accessDenied),
            (.error(404, "NoSuchBucket"), .storeMissing),
        ] as [(Answer, StoreError.Code)])
    func `Without a word on each key nothing is taken for deleted`(
        answer: Answer, expected: StoreError.Code
    ) async throws {
        let made = try ScriptedStore([answer])
        #expect(try await ScriptedStore.code { _ = try await made.store.delete(try keys("a", "b")) } == expected)
    }

    @Test(arguments: [405, 501])
    func `A store that takes one at a time gets them so, from then on`(status: Int) async throws {
        let made = try ScriptedStore([
            .reply(status), .reply(204), .error(500, "InternalError"), .reply(204), .reply(204),
        ])
        let failures = try await made.store.delete(try keys("a", "b", "c"))
        #expect(failures.mapValues(\.code) == [try ObjectKey("b"): .serverFailed])
        #expect(try await made.store.delete(try keys("d")) == [:])
        #expect(
            made.transport.lines == ["POST /b", "DELETE /b/a", "DELETE /b/b", "DELETE /b/c", "DELETE /b/d"])
    }

    @Test func `A store that takes one at a time, and denies each, is not asked for all of them`() async throws {
        let denials = [Answer](repeating: .error(403, "AccessDenied"), count: 100)
        let made = try ScriptedStore([.reply(501)] + denials)
        let keys = try (1...100).map { try ObjectKey("k\($0)") }
        #expect(try await ScriptedStore.code { _ = try await made.store.delete(keys) } == .accessDenied)
        #expect(made.transport.requests.count == 1 + DenialStreak.mostAtFirst)
    }

    @Test func `Keys that no XML can carry are deleted by themselves`() async throws {
        let made = try ScriptedStore([.error(400, "MalformedXML"), .reply(204), .reply(204), Self.done])
        #expect(try await made.store.delete(try keys("a\u{FFFE}", "b")) == [:])
        #expect(try await made.store.delete(try keys("c")) == [:])
        #expect(made.transport.lines == ["POST /b", "DELETE /b/a%EF%BF%BE", "DELETE /b/b", "POST /b"])
    }
}
