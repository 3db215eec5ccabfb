import SyncCore
import SyncS3
import Testing

/// Listings that ask for restores.
@Suite struct S3ListTests {
    typealias Answer = ScriptedTransport.Answer

    private static let restoring = Answer.reply(
        200, [:],
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><StorageClass>GLACIER</StorageClass>"
            + "<RestoreStatus><IsRestoreInProgress>true</IsRestoreInProgress></RestoreStatus></Contents>"
            + "</ListBucketResult>")

    private func asked(_ made: ScriptedStore) -> [Bool] {
        made.transport.requests.map { $0.headers["x-amz-optional-object-attributes"] == "RestoreStatus" }
    }

    @Test func `A store is known to tell of restores once it did`() async throws {
        let made = try ScriptedStore([ScriptedStore.emptyList, Self.restoring, ScriptedStore.emptyList])
        var known: [Bool?] = []
        for _ in 1...3 {
            _ = try await made.store.list(prefix: "", after: nil, limit: 10)
            known.append(made.store.capabilities.restoresInLists)
        }
        #expect(known == [nil, true, true])
        #expect(asked(made) == [true, true, true])
    }

    @Test(arguments: [
        Answer.reply(501), .error(501, "NotImplemented"),
        .reply(
            400, [:],
            "<Error><Code>InvalidArgument</Code><Message>Unsupported header 'x-amz-optional-object-attributes'"
                + "</Message></Error>"),
        .reply(400, [:], "<Error><Code>X</Code><Header>x-amz-Optional-Object-Attributes</Header></Error>"),
    ])
    func `A store that does not take the question is not asked again`(refusal: Answer) async throws {
        let made = try ScriptedStore([refusal, Self.restoring, ScriptedStore.emptyList])
        #expect(try await made.store.list(prefix: "", after: nil, limit: 10).objects.count == 1)
        _ = try await made.store.list(prefix: "", after: nil, limit: 10)
        #expect(asked(made) == [true, false, false])
    }

    @Test func `Another bad request is not taken for that`() async throws {
        let made = try ScriptedStore([.error(400, "InvalidArgument")])
        let code = try await ScriptedStore.code { _ = try await made.store.list(prefix: "", after: nil, limit: 10) }
        #expect(code == .invalidRequest)
        #expect(made.transport.requests.count == 1)
    }

    @Test func `A look whether the store is there asks for nothing special`() async throws {
        let made = try ScriptedStore([ScriptedStore.emptyList])
        try await made.store.check()
        #expect(asked(made) == [false])
    }
}
