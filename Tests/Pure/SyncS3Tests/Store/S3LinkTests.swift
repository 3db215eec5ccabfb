import FoundationEssentials
import SyncS3
import Testing

@testable import SyncCore

@Suite struct S3LinkTests {
    private static let there = ScriptedTransport.Answer.reply(
        200, ["Content-Length": "5", "Last-Modified": "Fri, 21 Dec 2012 00:00:00 GMT"])
    private static let week = Duration.seconds(7 * 86_400)

    private func link(
        _ duration: Duration, variables: [String: String] = [:], now: Date = ScriptedStore.start
    ) async throws -> StoreLink {
        let made = try ScriptedStore(
            [Self.there], variables: ScriptedStore.keys.merging(variables) { $1 }, now: { now })
        return try await made.store.link(to: try ObjectKey("a b"), lasting: duration)
    }

    @Test func `A link is a signed address of the object alone`() async throws {
        let link = try await link(.seconds(3_600), now: ScriptedStore.start.addingTimeInterval(0.75))
        #expect(link.endsAt == ScriptedStore.start.addingTimeInterval(3_600))
        #expect(link.limit == nil)
        #expect(
            link.url.hasPrefix(
                "https://s3.us-east-1.amazonaws.com/b/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256"
                    + "&X-Amz-Credential=AKID%2F20121221%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20121221T000000Z"
                    + "&X-Amz-Expires=3600&"))
        #expect(link.url.contains("&X-Amz-SignedHeaders=host"))
        #expect(!link.url.contains("secret"))
    }

    @Test(
        arguments: [
            (.seconds(30 * 86_400), [:], 604_800, "S3 signs links for at most 7 days"),
            (week, [:], 604_800, nil), (.zero, [:], 1, nil), (.milliseconds(1_500), [:], 1, nil),
            (
                .seconds(86_400),
                ["AWS_SESSION_TOKEN": "t", "AWS_CREDENTIAL_EXPIRATION": "2012-12-21T01:00:00Z"], 3_600,
                "the credentials are temporary, and a link ends with them"
            ),
            (
                .seconds(1_800),
                ["AWS_SESSION_TOKEN": "t", "AWS_CREDENTIAL_EXPIRATION": "2012-12-21T01:00:00Z"], 1_800, nil
            ),
            (
                .seconds(30 * 86_400),
                ["AWS_SESSION_TOKEN": "t", "AWS_CREDENTIAL_EXPIRATION": "2012-12-31T00:00:00Z"], 604_800,
                "S3 signs links for at most 7 days"
            ),
        ] as [(Duration, [String: String], Int, String?)])
    func `A link tells its true end, and why it is early`(
        duration: Duration, variables: [String: String], seconds: Int, limit: String?
    ) async throws {
        let link = try await link(duration, variables: variables)
        #expect(link.url.contains("X-Amz-Expires=\(seconds)&"))
        #expect(link.endsAt == ScriptedStore.start.addingTimeInterval(TimeInterval(seconds)))
        #expect(link.limit == limit && link.isEndKnown)
    }

    @Test func `A form is a policy for one key of one kind and size, and a look at it`() async throws {
        let made = try ScriptedStore(
            [], variables: ScriptedStore.keys.merging(["AWS_SESSION_TOKEN": "t"]) { $1 },
            now: { ScriptedStore.start.addingTimeInterval(0.75) })
        let form = try await made.store.uploadForm(
            for: try ["a b/0", "a b/1"].map { try ObjectKey($0) },
            UploadRules(mostBytes: 7, contentType: "image/"), lasting: .seconds(30 * 86_400))
        #expect(form.url == "https://s3.us-east-1.amazonaws.com/b" && form.keyPrefix == "a b/")
        #expect(
            form.fields.map { "\($0.name)=\($0.value)" } == [
                "x-amz-algorithm=AWS4-HMAC-SHA256", "x-amz-credential=AKID/20121221/us-east-1/s3/aws4_request",
                "x-amz-date=20121221T000000Z", "x-amz-security-token=t",
            ])
        #expect(
            form.policy.before + "0" + form.policy.after
                == #"{"expiration":"2012-12-28T00:00:00Z","conditions":[{"bucket":"b"},"#
                + #"{"x-amz-algorithm":"AWS4-HMAC-SHA256"},{"x-amz-credential":"AKID/20121221/us-east-1/s3/aws4_request"},"#
                + #"{"x-amz-date":"20121221T000000Z"},{"x-amz-security-token":"t"},["content-length-range",1,7],"#
                + #"["starts-with","$Content-Type","image/"],{"key":"a b/0"}]}"#)
        #expect(form.look.before == "https://s3.us-east-1.amazonaws.com/b/a%20b/")
        #expect(form.look.after.hasPrefix("?X-Amz-Algorithm=") && form.look.after.hasSuffix("&X-Amz-Signature="))
        #expect(form.lookEnd == "&X-Amz-SignedHeaders=host")
        #expect(form.slots.map(\.name) == ["0", "1"])
        #expect(Set(form.slots.flatMap { [$0.signature, $0.lookSignature] }).count == 4)
        #expect(form.slots.allSatisfy { $0.signature.count == 64 && $0.lookSignature.count == 64 })
        // Nobody knows when such a token ends.
        #expect(form.endsAt == ScriptedStore.start.addingTimeInterval(3_600))
    }

    /// Some tokens end after an hour, and nothing tells which.
    @Test(arguments: [(60, 60), (3_600, 3_600), (30 * 86_400, 3_600)])
    func `A link by a token that does not tell its end promises none`(wanted: Int, reliedOn: Int) async throws {
        let link = try await link(.seconds(wanted), variables: ["AWS_SESSION_TOKEN": "t"])
        #expect(!link.isEndKnown)
        #expect(link.endsAt == ScriptedStore.start.addingTimeInterval(TimeInterval(reliedOn)))
        #expect(link.limit == "the credentials are temporary and do not tell their end; the link ends with them")
        #expect(link.url.contains("X-Amz-Expires=\(min(wanted, 604_800))&"))
    }

    @Test(
        arguments: [
            (.reply(404), .notFound),
            (.reply(200, ["Content-Length": "5", "x-amz-storage-class": "GLACIER"]), .archived),
        ] as [(ScriptedTransport.Answer, StoreError.Code)])
    func `There is no link to what cannot be read`(
        answer: ScriptedTransport.Answer, expected: StoreError.Code
    ) async throws {
        let made = try ScriptedStore([answer])
        let code = try await ScriptedStore.code {
            _ = try await made.store.link(to: try ObjectKey("a"), lasting: Self.week)
        }
        #expect(code == expected)
    }
}
