import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

/// What can be set right by a reply.
@Suite struct S3CorrectionTests {
    typealias Row = (status: Int, code: String?, headers: HTTPHeaders, inside: String, expected: S3Correction?)

    private static let minuteLater: HTTPHeaders = ["Date": "Fri, 21 Dec 2012 00:01:00 GMT"]
    private static let quarterLater: HTTPHeaders = ["Date": "Fri, 21 Dec 2012 00:15:00 GMT"]
    private static let hourEarlier: HTTPHeaders = ["Date": "Thu, 20 Dec 2012 23:00:00 GMT"]
    private static let hourLater: HTTPHeaders = ["Date": "Fri, 21 Dec 2012 01:00:00 GMT"]
    private static let elsewhere: HTTPHeaders = ["x-amz-bucket-region": "eu-west-1"]

    @Test(
        arguments: [
            (301, "PermanentRedirect", elsewhere, "", .region("eu-west-1")),
            (301, nil, elsewhere, "", .region("eu-west-1")), (301, nil, [:], "", .region(nil)),
            (302, nil, [:], "", .region(nil)), (307, "TemporaryRedirect", elsewhere, "", .region("eu-west-1")),
            (400, "AuthorizationHeaderMalformed", [:], "<Region>eu-west-1</Region>", .region("eu-west-1")),
            (400, "AuthorizationHeaderMalformed", [:], "", nil),
            (400, "IllegalLocationConstraintException", [:], "", .region(nil)),
            (400, nil, elsewhere, "", .region("eu-west-1")),
            (400, nil, ["x-amz-bucket-region": "us-east-1"], "", nil),
            (403, "AccessDenied", elsewhere, "", nil), (304, nil, elsewhere, "", nil),
            (403, "RequestTimeTooSkewed", hourLater, "", .clock(3_600)),
            (403, "RequestTimeTooSkewed", minuteLater, "", .clock(60)),
            (403, "RequestTimeTooSkewed", [:], "", nil), (403, "RequestTimeTooSkewed", ["Date": "today"], "", nil),
            (403, "InvalidSignatureException", hourLater, "", .clock(3_600)),
            (403, "InvalidSignatureException", minuteLater, "", .credentials(haveExpired: false)),
            (403, "RequestExpired", hourLater, "", .clock(3_600)),
            (403, "RequestExpired", minuteLater, "", .credentials(haveExpired: true)),
            (403, "AccessDenied", hourLater, "", .clock(3_600)), (400, "AccessDenied", hourLater, "", .clock(3_600)),
            (403, "AccessDenied", quarterLater, "", nil), (403, "AccessDenied", hourEarlier, "", .clock(-3_600)),
            (400, "ExpiredToken", hourLater, "", .credentials(haveExpired: true)),
            (403, "ExpiredTokenException", [:], "", .credentials(haveExpired: true)),
            (403, "InvalidAccessKeyId", [:], "", .credentials(haveExpired: false)),
            (403, "SignatureDoesNotMatch", hourLater, "", .credentials(haveExpired: false)),
            (401, nil, [:], "", .credentials(haveExpired: false)), (403, nil, hourLater, "", nil),
            (200, nil, elsewhere, "", nil), (503, "SlowDown", hourLater, "", nil),
        ] as [Row])
    func `A reply tells what was wrong with the request`(row: Row) throws {
        let address = try S3Address(bucket: "b", region: "us-east-1", endpoint: nil, addressing: .path)
        let body = row.code.map { "<Error><Code>\($0)</Code>\(row.inside)</Error>" } ?? ""
        let response = HTTPResponse(status: row.status, headers: row.headers, body: Array(body.utf8))
        let correction = S3Correction(
            response, sentWith: EndpointFacts(address: address), at: ScriptedStore.start)
        #expect(correction == row.expected)
    }

    @Test(arguments: [
        (nil, "https://s3.eu-west-1.amazonaws.com/b/k"),
        ("https://s3.amazonaws.com", "https://s3.eu-west-1.amazonaws.com/b/k"),
        ("http://localhost:9000/s3/", "http://localhost:9000/s3/b/k"),
    ])
    func `At Amazon another region is another endpoint`(endpoint: String?, expected: String) throws {
        let address = try S3Address(bucket: "b", region: "us-east-1", endpoint: endpoint, addressing: .path)
        let moved = try address.moved(to: "eu-west-1")
        #expect(moved.region == "eu-west-1")
        #expect("\(moved.url(key: "k"))" == expected)
        #expect(throws: StoreError.self) { try address.moved(to: "evil.example/") }
    }

    @Test(arguments: [
        (3_600, "1 h behind"), (-1_200, "20 min ahead of"), (90_061, "1 d 1 h behind"), (-61, "1 min 1 s ahead of"),
        (0, "0 s behind"),
    ])
    func `A wrong clock is told by how much`(seconds: Double, words: String) {
        #expect(
            ClockDifference(seconds: seconds).message("https://s3.example.org")
                == "this machine's clock is \(words) that of https://s3.example.org, which refuses it; set the clock, or "
                + "let NTP do it (timedatectl set-ntp true)")
    }
}
