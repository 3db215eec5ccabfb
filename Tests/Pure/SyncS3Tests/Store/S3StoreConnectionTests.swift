import FoundationEssentials
import SyncCore
import SyncS3
import Testing

/// What `doctor` gets to hear.
@Suite struct S3StoreConnectionTests {
    private static let hourLater: HTTPHeaders = [
        "Date": "Fri, 21 Dec 2012 01:00:00 GMT", "x-amz-bucket-region": "eu-west-1",
    ]

    @Test func `The source of the credentials is told, and no secret`() async throws {
        let made = try ScriptedStore(
            [], variables: ["HOME": "/h"],
            readFile: { path throws(StoreError) in
                guard path == "/h/.aws/credentials" else { return nil }
                return "[default]\naws_access_key_id = AKID\naws_secret_access_key = hidden\n"
            })
        let report = try await made.store.credentialSource()
        #expect(report.source == .profile("default", file: "/h/.aws/credentials"))
        #expect(report.accessKeyID == "AKID" && report.expiration == nil)
        var dumped = ""
        dump(report, to: &dumped)
        #expect(!dumped.contains("hidden"))
    }

    @Test func `Missing credentials are told with the places that were asked`() async throws {
        let made = try ScriptedStore([.reply(404), .reply(404)], variables: ["HOME": "/h"])
        let error = await #expect(throws: StoreError.self) { try await made.store.credentialSource() }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.message.contains("/h/.aws/credentials") == true)
    }

    @Test(arguments: [200, 301, 403, 404])
    func `Clock and region are heard in every reply, without a signature`(status: Int) async throws {
        let made = try ScriptedStore(
            [.reply(status, Self.hourLater), .reply(status, Self.hourLater)], variables: [:])
        #expect(try await made.store.serverTime() == 3_600)
        #expect(try await made.store.bucketRegion() == "eu-west-1")
        #expect(made.transport.lines == ["HEAD /b", "HEAD /b"])
        #expect(made.transport.requests.allSatisfy { $0.headers["Authorization"] == nil })
        #expect(made.store.knowledge.clockOffset == 0)
    }

    @Test(arguments: [
        ScriptedTransport.Answer.reply(200, ["Content-Type": "text/html"], "<!DOCTYPE html><title>Welcome</title>"),
        .reply(200, ["ETag": "\"page\""], "<html>Maintenance</html>"), .reply(200, ["Content-Length": "0"]),
    ])
    func `What is no answer of a store says nothing of checksums`(page: ScriptedTransport.Answer) async throws {
        let made = try ScriptedStore([page])
        let code = try await ScriptedStore.code {
            _ = try await S3Examiner(made.store).checksum(at: try ObjectKey("a"), wrongAt: try ObjectKey("b"))
        }
        #expect(code == .invalidResponse)
        #expect(made.transport.lines == ["PUT /b/a"])
    }

    @Test(arguments: [(429, StoreError.Code.throttled), (502, .serverFailed), (503, .throttled), (507, .noSpace)])
    func `A server without time or room has refused nothing`(status: Int, code: StoreError.Code) async throws {
        let (key, stored) = (try ObjectKey("a"), ScriptedTransport.Answer.reply(200, ["ETag": "\"e\""]))
        for before in [[], [.reply(400)]] as [[ScriptedTransport.Answer]] {
            let answers = before + [.reply(status)]
            let integrity = try await ScriptedStore.code {
                _ = try await S3Examiner(try ScriptedStore(answers).store).integrity(at: key)
            }
            let access = try await ScriptedStore.code {
                _ = try await S3Examiner(try ScriptedStore(answers).store).access(to: key)
            }
            #expect([integrity, access] == [code, code])
        }
        let checksum = try await ScriptedStore.code {
            let store = try ScriptedStore([stored, .reply(200), .reply(status)]).store
            _ = try await S3Examiner(store).checksum(at: key, wrongAt: try ObjectKey("b"))
        }
        #expect(checksum == code)
    }

    @Test func `A server that tells neither is no failure, one that is away is`() async throws {
        let made = try ScriptedStore(
            [.reply(403), .reply(403), .failure(TransportError(.unreachable, "no route"))])
        #expect(try await made.store.serverTime() == nil)
        #expect(try await made.store.bucketRegion() == nil)
        #expect(try await ScriptedStore.code { _ = try await made.store.serverTime() } == .unreachable)
    }
}
