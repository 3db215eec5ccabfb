import Foundation
import SyncTestSupport
import Testing

@Suite struct PermissionTests {
    @Test func `Wrong, unknown and incomplete credentials are told apart`() async throws {
        try await ScriptedS3Server.run { server in
            let temporary = ServerCredentials(
                accessKeyID: "ASIA", secretAccessKey: "s", sessionToken: "tok/en+=",
                expires: server.now.addingTimeInterval(800))
            server.setCredentials([.usual, temporary])
            var wrongSecret = ServerCredentials.usual
            wrongSecret.secretAccessKey = "wrong"
            var withToken = ServerCredentials.usual
            withToken.sessionToken = "token"
            var withoutToken = temporary
            withoutToken.sessionToken = nil
            var otherToken = temporary
            otherToken.sessionToken = "other"
            let unknown = ServerCredentials(accessKeyID: "AKIANOBODY", secretAccessKey: "s")
            let table: [(ServerCredentials, Int, String?)] = [
                (.usual, 200, nil), (temporary, 200, nil), (wrongSecret, 403, "SignatureDoesNotMatch"),
                (unknown, 403, "InvalidAccessKeyId"), (withoutToken, 403, "InvalidAccessKeyId"),
                (otherToken, 400, "InvalidToken"), (withToken, 400, "InvalidToken"),
            ]
            for (credentials, status, code) in table {
                let client = RawClient(server: server, credentials: credentials)
                let reply = try await client.send("GET", query: "list-type=2")
                #expect(reply.status == status && reply["Code"] == code, "\(reply.text)")
            }
            server.setClock(ahead: .seconds(801))
            let late = try await RawClient(server: server, credentials: temporary).send("GET", query: "list-type=2")
            #expect(late.status == 400 && late["Code"] == "ExpiredToken")
            let nobody = try await RawClient(server: server).exchange(
                "GET /photos?list-type=2 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(nobody.status == 403 && nobody["Code"] == "AccessDenied")
        }
    }

    @Test(arguments: [(-901, false), (-899, true), (899, true), (901, false), (3_600, false)])
    func `A clock may be off by a quarter of an hour`(seconds: Int, isAccepted: Bool) async throws {
        let start = Date(timeIntervalSince1970: 1_772_366_400)
        let server = try ScriptedS3Server(now: { start })
        server.setClock(ahead: .seconds(seconds))
        let reply = try await RawClient(server: server, now: start).send("GET", query: "list-type=2")
        #expect(reply.status == (isAccepted ? 200 : 403))
        #expect(reply["Code"] == (isAccepted ? nil : "RequestTimeTooSkewed"))
        // What a client corrects itself by.
        #expect(reply.headers["date"]?.hasPrefix("Sun, 01 Mar 2026 1") == true)
        await server.stop()
    }

    @Test func `Every x-amz header has to be signed`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let reply = try await client.send("PUT", "a", unsigned: ["x-amz-storage-class": "GLACIER"])
            #expect(reply.status == 403 && reply["HeadersNotSigned"] == "x-amz-storage-class")
            #expect(try await client.send("PUT", "a", unsigned: ["user-agent": "me"]).status == 200)
            let bare = try await client.send("GET", "a", unsigned: ["x-amz-content-sha256": ""])
            #expect(bare.status == 400 && bare["Code"] == "InvalidRequest")
        }
    }

    @Test func `A wrong region is told in the body, in a header, or by a redirect`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server, region: "us-east-1")
            let list = try await client.send("GET", query: "list-type=2")
            #expect(list.status == 400 && list["Code"] == "AuthorizationHeaderMalformed")
            #expect(list["Region"] == "eu-central-1" && list.headers["x-amz-bucket-region"] == nil)
            let head = try await client.send("HEAD", "a")
            #expect(head.status == 400 && head.headers["x-amz-bucket-region"] == "eu-central-1" && head.body.isEmpty)
            server.setRedirectsWrongRegion(true)
            let redirect = try await client.send("GET", query: "list-type=2")
            #expect(redirect.status == 301 && redirect["Code"] == "PermanentRedirect")
            #expect(redirect["Endpoint"] == "photos.s3.eu-central-1.amazonaws.com")
            #expect(redirect.headers["x-amz-bucket-region"] == "eu-central-1")
        }
    }

    @Test func `A bucket tells where it is, also to strangers`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            #expect(
                try await client.send("GET", query: "location=").text.contains(">eu-central-1</LocationConstraint>"))
            let head = try await client.send("HEAD")
            #expect(head.status == 200 && head.headers["x-amz-bucket-region"] == "eu-central-1")
            let stranger = try await client.exchange("HEAD /photos HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(stranger.status == 403 && stranger.headers["x-amz-bucket-region"] == "eu-central-1")
            #expect(server.requests.map(\.operation) == [.getBucketLocation, .headBucket, .headBucket])
            #expect(head.headers["x-amz-request-id"] == "SCRIPTED00000002")
        }
    }
}
