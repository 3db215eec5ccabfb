import Foundation
import SyncCore
import SyncTestSupport
import Testing

@Suite struct RestoreTests {
    /// 2012-10-15 10:30 UTC, from the example in the S3 User Guide.
    private static let start = Date(timeIntervalSince1970: 1_350_297_000)

    private func restore(_ server: ScriptedS3Server, days: Int?, tier: String?) async throws -> RawReply {
        let days = days.map { "<Days>\($0)</Days>" } ?? ""
        let tier = tier.map { "<GlacierJobParameters><Tier>\($0)</Tier></GlacierJobParameters>" } ?? ""
        return try await RawClient(server: server).send(
            "POST", "a", query: "restore=", body: "<RestoreRequest>\(days)\(tier)</RestoreRequest>")
    }

    private func header(_ server: ScriptedS3Server) async throws -> String? {
        try await RawClient(server: server).send("HEAD", "a").headers["x-amz-restore"]
    }

    private func listed(_ server: ScriptedS3Server) async throws -> String? {
        try await RawClient(server: server).send(
            "GET", query: "list-type=2", headers: ["x-amz-optional-object-attributes": "RestoreStatus"])[
                "RestoreStatus"]
    }

    @Test func `A restore runs, is readable, and ends at midnight`() async throws {
        let server = try ScriptedS3Server(now: { Self.start })
        server.store(Array("cold".utf8), at: "a", storageClass: .deepArchive)
        let client = RawClient(server: server)
        let refused = try await client.send("GET", "a")
        #expect(refused.status == 403 && refused["Code"] == "InvalidObjectState")
        #expect(refused["StorageClass"] == "DEEP_ARCHIVE")
        #expect(try await header(server) == nil)
        #expect(try await listed(server) == nil)

        #expect(try await restore(server, days: 3, tier: nil).status == 202)
        #expect(try await header(server) == "ongoing-request=\"true\"")
        #expect(try await listed(server) == "<IsRestoreInProgress>true</IsRestoreInProgress>")
        server.advanceClock(by: .seconds(12 * 3_600 - 1))
        #expect(try await client.send("GET", "a").status == 403)
        server.advanceClock(by: .seconds(1))
        #expect(try await client.send("GET", "a").text == "cold")
        #expect(
            try await header(server) == "ongoing-request=\"false\", expiry-date=\"Fri, 19 Oct 2012 00:00:00 GMT\"")
        #expect(
            try await listed(server)
                == "<IsRestoreInProgress>false</IsRestoreInProgress>"
                + "<RestoreExpiryDate>2012-10-19T00:00:00.000Z</RestoreExpiryDate>")

        // The next day at 11:00 another period is asked for, a shorter one.
        server.setClock(ahead: .seconds(24 * 3_600 + 1_800))
        #expect(try await restore(server, days: 1, tier: "Standard").status == 200)
        #expect(try await header(server)?.contains("Thu, 18 Oct 2012 00:00:00 GMT") == true)
        server.setClock(ahead: .seconds(2 * 86_400 + 13 * 3_600 + 1_799))
        #expect(try await client.send("GET", "a").status == 200)
        server.advanceClock(by: .seconds(1))
        #expect(try await client.send("GET", "a").status == 403)
        #expect(try await header(server) == nil)
        #expect(try await restore(server, days: 1, tier: "Bulk").status == 202)
        await server.stop()
    }

    @Test func `A running restore takes a faster tier and nothing else`() async throws {
        let server = try ScriptedS3Server(now: { Self.start })
        server.store([1], at: "a", storageClass: .glacier)
        #expect(try await restore(server, days: 3, tier: "Bulk").status == 202)
        for (days, tier) in [(3, "Bulk"), (4, "Standard")] {
            let reply = try await restore(server, days: days, tier: tier)
            #expect(reply.status == 409 && reply["Code"] == "RestoreAlreadyInProgress")
        }
        #expect(try await restore(server, days: 3, tier: "Expedited").status == 202)
        #expect(server.object("a")?.restore?.tier == .expedited)
        #expect(try await restore(server, days: 3, tier: "Standard").status == 409)
        server.advanceClock(by: .seconds(300))
        #expect(try await header(server)?.hasPrefix("ongoing-request=\"false\"") == true)
        await server.stop()
    }

    struct Refusal: Sendable {
        let storageClass: StorageClass
        var accessTier: StoredObject.AccessTier?
        var days: Int? = 3
        var tier: String?
        let status: Int
        let code: String
    }

    @Test(arguments: [
        Refusal(storageClass: .deepArchive, tier: "Expedited", status: 400, code: "InvalidArgument"),
        Refusal(storageClass: .deepArchive, days: nil, status: 400, code: "MalformedXML"),
        Refusal(storageClass: .glacier, days: 0, status: 400, code: "MalformedXML"),
        Refusal(storageClass: .glacier, tier: "Quick", status: 400, code: "MalformedXML"),
        Refusal(storageClass: .standard, status: 403, code: "InvalidObjectState"),
        Refusal(storageClass: .glacierInstantRetrieval, status: 403, code: "InvalidObjectState"),
        Refusal(storageClass: .intelligentTiering, days: nil, status: 403, code: "ObjectAlreadyInActiveTierError"),
        Refusal(storageClass: .intelligentTiering, accessTier: .archive, status: 400, code: "InvalidArgument"),
        Refusal(
            storageClass: .intelligentTiering, accessTier: .deepArchive, days: nil, tier: "Expedited", status: 400,
            code: "InvalidArgument"),
    ])
    func `What no class allows is refused`(refusal: Refusal) async throws {
        try await ScriptedS3Server.run { server in
            server.store([1], at: "a", storageClass: refusal.storageClass)
            if let tier = refusal.accessTier { server.archive("a", in: tier) }
            let reply = try await restore(server, days: refusal.days, tier: refusal.tier)
            #expect(reply.status == refusal.status && reply["Code"] == refusal.code, "\(reply.text)")
        }
    }

    @Test func `An archive tier of INTELLIGENT_TIERING is left for good`() async throws {
        let server = try ScriptedS3Server(now: { Self.start })
        server.store(Array("cool".utf8), at: "a", storageClass: .intelligentTiering)
        server.archive("a", in: .archive)
        let client = RawClient(server: server)
        let refused = try await client.send("GET", "a")
        #expect(refused["StorageClass"] == "INTELLIGENT_TIERING" && refused["AccessTier"] == "ARCHIVE_ACCESS")
        #expect(try await restore(server, days: nil, tier: "Expedited").status == 202)
        #expect(try await header(server) == "ongoing-request=\"true\"")
        server.advanceClock(by: .seconds(300))
        let head = try await client.send("HEAD", "a")
        #expect(head.headers["x-amz-restore"] == nil && head.headers["x-amz-archive-status"] == nil)
        server.advanceClock(by: .seconds(365 * 86_400))
        #expect(try await client.send("GET", "a").text == "cool")
        await server.stop()
    }

    @Test func `There may be no room for an expedited restore`() async throws {
        try await ScriptedS3Server.run { server in
            server.store([1], at: "a", storageClass: .glacier)
            server.script(.answer(ScriptedAnswer(503, "GlacierExpeditedRetrievalNotAvailable")), on: .restoreObject)
            let reply = try await restore(server, days: 1, tier: "Expedited")
            #expect(reply.status == 503 && reply["Code"] == "GlacierExpeditedRetrievalNotAvailable")
            #expect(server.object("a")?.restore == nil)
            #expect(try await restore(server, days: 1, tier: "Standard").status == 202)
        }
    }
}
