import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct CanonicalRequestTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        /// As it is meant, not encoded.
        let path: String
        let query: [(String, String)]
        let headers: [(String, String)]
        let signature: String

        init(
            _ method: String, _ path: String, query: [(String, String)] = [], headers: [(String, String)] = [],
            signature: String
        ) {
            self.method = method
            self.path = path
            self.query = query
            self.headers = headers
            self.signature = signature
        }

        var testDescription: String { "\(method) \(path) \(query) \(headers)" }
    }

    /// Signatures of the awslabs/aws-c-auth test suite (v4, header signing), those whose path is not normalised or does
    /// not need to be: the canonical form of S3.
    @Test(arguments: [
        Row(
            "GET", "/",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Row(
            "GET", "/",
            headers: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Row(
            "GET", "/",
            headers: [
                ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2"),
            ],
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
        Row(
            "GET", "/",
            headers: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Row(
            "GET", "//example//",
            signature: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
        Row(
            "GET", "/example space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        Row(
            "GET", "/example1/example2/../..",
            signature: "dc33e0856fd4baca4d7aa2146c38958283844764f38c74252a333df5e613003b"),
        Row(
            "GET", "/./",
            signature: "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145"),
        Row(
            "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Row(
            "GET", "/ሴ",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Row(
            "GET", "/",
            query: [("Param-3", "Value3"), ("Param", "Value2"), ("ሴ", "Value1")],
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
        Row(
            "GET", "/",
            query: [("Param2", "value2"), ("Param1", "value1")],
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Row(
            "GET", "/",
            query: [
                (
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                )
            ],
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        Row(
            "GET", "/",
            query: [("ሴ", "bar")],
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Row(
            "POST", "/",
            headers: [("My-Header1", "value1")],
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Row(
            "POST", "/",
            query: [("Param1", "value1")],
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Row(
            "GET", "/",
            headers: [("X-Amz-Security-Token", "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")],
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    ])
    func `Requests of the aws-c-auth suite get their signatures`(row: Row) {
        var headers: HTTPHeaders = ["Host": "example.amazonaws.com", "X-Amz-Date": "20150830T123600Z"]
        for (name, value) in row.headers { headers.append(name, value) }
        let canonical = CanonicalRequest(
            method: row.method, path: row.path.uriEncoded(keepingSlashes: true),
            query: row.query.map { HTTPQueryItem($0, $1) }, headers: headers, payload: .empty)
        let keys = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        let signer = SignatureV4(credentials: keys, region: "us-east-1", service: "service")
        // 2015-08-30T12:36:00Z
        let time = SigningTime(Date(timeIntervalSince1970: 1_440_938_160))
        #expect(signer.signature(of: canonical, at: time) == row.signature)
    }

    @Test func `A canonical request has the lines of the specification`() {
        let canonical = CanonicalRequest(
            method: "PUT", path: "/a%20b", query: [HTTPQueryItem("restore"), HTTPQueryItem("a", "1/2")],
            headers: ["x-amz-meta-a-b": "2", "Host": "h", "X-Amz-Meta-A": "  1   x "], payload: .unsigned)
        #expect(
            canonical.text == """
                PUT
                /a%20b
                a=1%2F2&restore=
                host:h
                x-amz-meta-a:1 x
                x-amz-meta-a-b:2

                host;x-amz-meta-a;x-amz-meta-a-b
                UNSIGNED-PAYLOAD
                """)
    }

    @Test(arguments: ["User-Agent", "expect", "Content-Length", "Connection", "Accept-Encoding", "Proxy-Authorization"])
    func `Headers that change on the way are not signed`(name: String) {
        var headers: HTTPHeaders = ["Host": "h"]
        headers.append(name, "value")
        let canonical = CanonicalRequest(method: "GET", path: "/", query: [], headers: headers, payload: .empty)
        #expect(canonical.signedHeaders == "host")
    }

    @Test func `Query items are sorted by encoded name and then by value`() {
        let items = [("b", "2"), ("a-", "x"), ("a", "z"), ("ä", ""), ("b", "10"), ("B", "")]
        let text = CanonicalRequest.canonicalQuery(items.map { HTTPQueryItem($0, $1) })
        #expect(text == "%C3%A4=&B=&a=z&a-=x&b=10&b=2")
    }
}
