import SyncCore
import SyncTestSupport
import Testing

/// The other stores that the server imitates.
@Suite struct AbilityTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout StoreAbilities) -> Void
        var method = "PUT"
        var query = ""
        var headers: [String: String] = [:]
        var body = ""
        let status: Int
        let code: String?
    }

    private static let restoreBody =
        "<RestoreRequest><Days>1</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters></RestoreRequest>"

    /// All of them go to an archived object.
    @Test(arguments: [
        Row(
            testDescription: "If-None-Match is overwritten", change: { $0.conditionalPut = .ignored },
            headers: ["if-none-match": "*"], status: 200, code: nil),
        Row(
            testDescription: "If-None-Match is refused", change: { $0.conditionalPut = .refused },
            headers: ["if-none-match": "*"], status: 501, code: "NotImplemented"),
        Row(
            testDescription: "checksums are a bad request", change: { $0.checksumHeaders = .badRequest },
            headers: ["x-amz-checksum-crc32": "AAAAAA=="], status: 400, code: "InvalidArgument"),
        Row(
            testDescription: "checksums are refused", change: { $0.checksumHeaders = .notImplemented },
            headers: ["x-amz-checksum-crc32": "AAAAAA=="], status: 501, code: "NotImplemented"),
        Row(
            testDescription: "there is one class", change: { $0.storageClasses = [.standard] },
            headers: ["x-amz-storage-class": "GLACIER"], status: 400, code: "InvalidStorageClass"),
        Row(
            testDescription: "there are no restores", change: { $0.restores = .notImplemented }, method: "POST",
            query: "restore=", body: restoreBody, status: 501, code: "NotImplemented"),
        Row(
            testDescription: "restores know no tier", change: { $0.restores = .daysOnly }, method: "POST",
            query: "restore=", body: restoreBody, status: 400, code: "MalformedXML"),
        Row(
            testDescription: "restores know days", change: { $0.restores = .daysOnly }, method: "POST",
            query: "restore=", body: "<RestoreRequest><Days>1</Days></RestoreRequest>", status: 202, code: nil),
        Row(
            testDescription: "restores have one tier", change: { $0.restores = .standardTierOnly }, method: "POST",
            query: "restore=", body: restoreBody, status: 501, code: "NotImplemented"),
    ])
    func `Abilities can be taken away`(row: Row) async throws {
        try await ScriptedS3Server.run { server in
            server.store([1, 2], at: "a", storageClass: .glacier)
            server.imitate(row.change)
            let reply = try await RawClient(server: server).send(
                row.method, "a", query: row.query, headers: row.headers, body: row.body)
            #expect(reply.status == row.status && reply["Code"] == row.code, "\(reply.text)")
        }
    }

    @Test func `Lists may say nothing of restores`() async throws {
        try await ScriptedS3Server.run { server in
            server.imitate { $0.listsRestoreStatus = false }
            server.store([1], at: "a", storageClass: .glacier)
            let client = RawClient(server: server)
            #expect(try await client.send("POST", "a", query: "restore=", body: Self.restoreBody).status == 202)
            let list = try await client.send(
                "GET", query: "list-type=2", headers: ["x-amz-optional-object-attributes": "RestoreStatus"])
            #expect(list["StorageClass"] == "GLACIER" && list["RestoreStatus"] == nil)
        }
    }
}
