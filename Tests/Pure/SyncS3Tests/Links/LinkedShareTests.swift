import SyncCore
import SyncTestSupport
import Testing

@testable import SyncS3

@Suite struct LinkedShareTests {
    private static let id = "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"

    /// One photo of ten bytes behind a signed link, another of ten without one.
    private static let manifest = """
        {"version":1,"shareId":"\(id)","locationName":"Paris","startDate":"2024-06-15","endDate":"2024-06-15",
        "photoCount":2,"sharedBy":null,"expiresAt":"2026-02-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z",
        "manifestURL":"https://s3.example/b/shares/\(id)/vacation.json?X-Sig=b%2Fc+d~&a",
        "photos":[{"orderIndex":0,"width":4,"height":3,"size":10,"sha256":"\(String(repeating: "ab", count: 32))",
        "takenAt":null,"url":"https://s3.example/b/one.jpg?X-Sig=b%2Fc+d~&a"},{"orderIndex":3,"width":4,"height":3,
        "size":10,"sha256":"\(String(repeating: "cd", count: 32))","takenAt":null}]}
        """

    private func read(
        _ answers: [ScriptedTransport.Answer], link: String = "https://s3.example/b/shares/\(id)/vacation.json?sig=1"
    ) async throws -> (ReadShare, ScriptedTransport) {
        let transport = ScriptedTransport([.reply(200, [:], Self.manifest)] + answers)
        let source = LinkedShareSource(try #require(WebLink(link)), transport: transport)
        return (try await source.read(remembered: nil), transport)
    }

    private func key(_ index: Int) throws -> ObjectKey { ShareKeys(try #require(ShareID(Self.id))).photo(index) }

    @Test func `A signed link goes out to the byte, the others lie beside the manifest`() async throws {
        let (share, transport) = try await read([.reply(200, [:], "0123456789"), .reply(200, [:], "0123456789")])
        for index in [0, 3] {
            let bytes = try await share.photos.bytes(of: key(index))
            #expect(bytes.count == 10)
        }
        #expect(
            transport.requests.map { "\($0.url)" } == [
                "https://s3.example/b/shares/\(Self.id)/vacation.json?sig=1",
                "https://s3.example/b/one.jpg?X-Sig=b%2Fc+d~&a",
                "https://s3.example/b/shares/\(Self.id)/\(Self.id)_3.jpg",
            ])
        #expect(share.manifestLink?.query == "X-Sig=b%2Fc+d~&a")
    }

    /// A server that sends 1.5 KB a second is never silent for long enough.
    @Test func `A manifest has a time for the whole of it, and photos have none`() async throws {
        let (share, transport) = try await read([.reply(200, [:], "0123456789")])
        _ = try await share.photos.bytes(of: key(0))
        #expect(transport.requests.map(\.limit) == [.seconds(94), nil])
    }

    @Test func `What is known by the manifest costs no request`() async throws {
        let (share, transport) = try await read([])
        let info = try await share.photos.head(key(0))
        #expect(info?.size == 10)
        let missing = try await share.photos.head(key(1))
        #expect(missing == nil)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("206", "bytes 4-9/10", "456789", "456789"), ("206", "bytes 4-9/*", "456789", "456789"),
        ("200", "", "0123456789", "456789"),
    ])
    func `A part is got, also from servers that send all`(
        status: String, range: String, body: String, expected: String
    ) async throws {
        let headers: HTTPHeaders = range.isEmpty ? [:] : ["Content-Range": range]
        let (share, transport) = try await read([.reply(Int(status) ?? 0, headers, body)])
        let bytes = try await share.photos.bytes(of: key(0), range: 4..<10)
        #expect(bytes == Array(expected.utf8))
        #expect(transport.requests[1].headers["Range"] == "bytes=4-9")
    }

    private static let errors: [(Int, HTTPHeaders, String, StoreError.Code)] = [
        (206, ["Content-Range": "bytes 0-5/10"], "012345", .invalidRange),
        (206, ["Content-Range": "bytes 4-9/99"], "456789", .invalidRange),
        (206, ["Content-Range": "bytes 4-9/10"], "4567890123456789", .badDigest),
        (206, ["Content-Range": "bytes 4-9/10"], "456", .connectionLost),
        (200, ["Content-Length": "11"], "0123456789X", .badDigest), (200, [:], "0123456789X", .badDigest),
        (200, [:], "0123", .connectionLost), (416, [:], "", .invalidRange), (403, [:], "", .linkEnded),
        (404, [:], "", .notFound), (410, [:], "", .notFound), (401, [:], "", .accessDenied),
        (429, [:], "", .throttled), (503, [:], "", .throttled), (500, [:], "", .serverFailed),
        (400, [:], "", .invalidRequest), (204, [:], "", .invalidResponse), (302, [:], "", .unsupported),
        (307, ["Location": "http://s3.example/b/one.jpg"], "", .unsupported),
    ]

    @Test(arguments: errors)
    func `Everything else is an error that says what it means`(
        status: Int, headers: HTTPHeaders, body: String, code: StoreError.Code
    ) async throws {
        let (share, _) = try await read([.reply(status, headers, body)])
        let sink = ByteSink()
        let key = try key(0)
        let error = await #expect(throws: StoreError.self) {
            try await share.photos.get(key, range: 4..<10) { sink.append($0) }
        }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(sink.bytes.count <= 6)
        #expect(error.map { "\($0)" }?.contains("X-Sig") == false)
    }

    @Test func `A failure of the way names the host and no secret`() async throws {
        let (share, _) = try await read([.failure(TransportError(.timedOut, "no bytes for 60 s"))])
        let key = try key(0)
        let error = await #expect(throws: StoreError.self) { try await share.photos.bytes(of: key) }
        #expect(error?.code == .timedOut)
        #expect(error?.message == "https://s3.example takes too long: no bytes for 60 s")
    }

    @Test func `A folder's link leads to its manifest`() async throws {
        for link in ["https://h.example/shares/\(Self.id)", "https://h.example/shares/\(Self.id)/"] {
            let text = Self.manifest.replacing("https://s3.example", with: "https://h.example")
            let transport = ScriptedTransport([.reply(404, [:], ""), .reply(200, [:], text)])
            let source = LinkedShareSource(try #require(WebLink(link)), transport: transport)
            let share = try await source.read(remembered: nil)
            #expect(share.share.photos.count == 2)
            #expect(transport.lines.last == "GET /shares/\(Self.id)/vacation.json")
        }
    }

    @Test(arguments: [
        ("https://h.example/shares/\(id)/index.htm", "has ended or is not whole"),
        ("https://h.example/shares/\(id.dropLast())/index.html", "no id of a share"),
        ("https://h.example/shares/\(id.uppercased())/index.html", "no id of a share"),
        ("https://h.example/shares/\(id.prefix(7))", "no id of a share"),
    ])
    func `A link that is not whole is not told as a share that was revoked`(text: String, told: String) async throws {
        let transport = ScriptedTransport([.reply(404, [:], "")])
        let source = LinkedShareSource(try #require(WebLink(text)), transport: transport)
        let error = await #expect(throws: StoreError.self) { try await source.read(remembered: nil) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains(told) == true, "\(String(describing: error))")
        #expect(error?.message.contains("\(Self.id.prefix(7))") == false)
    }

    @Test func `What another host was remembered for is not asked`() async throws {
        let transport = ScriptedTransport([.reply(403, [:], "")])
        let source = LinkedShareSource(try #require(WebLink("https://h.example/a.html")), transport: transport)
        let error = await #expect(throws: StoreError.self) {
            try await source.read(remembered: WebLink("https://evil.example/vacation.json"))
        }
        #expect(error?.code == .notFound)
        #expect(transport.requests.count == 1)
    }
}
