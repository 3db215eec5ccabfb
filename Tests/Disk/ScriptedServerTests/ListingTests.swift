import SyncTestSupport
import Testing

@Suite struct ListingTests {
    @Test func `Pages follow each other in byte order`() async throws {
        try await ScriptedS3Server.run { server in
            let keys = ["Z", "a", "a b", "a+b", "a/1", "a/2", "b&", "zu\u{308}", "z\u{FC}", "東"]
            for key in keys.shuffled() { server.store([1], at: key) }
            let client = RawClient(server: server)
            var found: [String] = []
            var token: String?
            repeat {
                let next = token.map {
                    "continuation-token=\($0.replacing("=", with: "%3D").replacing("+", with: "%2B"))&"
                }
                let reply = try await client.send("GET", query: "\(next ?? "")list-type=2&max-keys=3")
                found += reply.all("Key")
                #expect(reply["KeyCount"] == "\(reply.all("Key").count)" && reply["MaxKeys"] == "3")
                token = reply["NextContinuationToken"]
                #expect(reply["IsTruncated"] == (token == nil ? "false" : "true"))
            } while token != nil
            #expect(found.map { Array($0.utf8) } == keys.map { Array($0.replacing("&", with: "&amp;").utf8) })
            #expect(server.requests(.listObjectsV2).count == 4)
        }
    }

    @Test func `Prefix, start and delimiter cut a list`() async throws {
        try await ScriptedS3Server.run { server in
            for key in ["a", "a/1", "a/2/x", "a/2/y", "a/3", "ab", "b"] { server.store([], at: key) }
            let client = RawClient(server: server)
            let table: [(String, [String], [String])] = [
                ("list-type=2&prefix=a%2F", ["a/1", "a/2/x", "a/2/y", "a/3"], []),
                ("list-type=2&prefix=a%2F&start-after=a%2F2%2Fx", ["a/2/y", "a/3"], []),
                ("delimiter=%2F&list-type=2", ["a", "ab", "b"], ["a/"]),
                ("delimiter=%2F&list-type=2&prefix=a%2F", ["a/1", "a/3"], ["a/2/"]),
                ("list-type=2&max-keys=0", [], []), ("list-type=2&prefix=none", [], []),
            ]
            for (query, keys, prefixes) in table {
                let reply = try await client.send("GET", query: query)
                #expect(reply.all("Key") == keys, "\(query)")
                #expect(
                    reply.all("CommonPrefixes").map { $0.dropFirst("<Prefix>".count).dropLast("</Prefix>".count) }
                        == prefixes.map { $0[...] })
                #expect(reply["IsTruncated"] == "false")
            }
            // A page may end with a common prefix; the next one does not give it again.
            let first = try await client.send("GET", query: "delimiter=%2F&list-type=2&max-keys=2")
            #expect(first.all("Key") == ["a"] && first["CommonPrefixes"] == "<Prefix>a/</Prefix>")
            let token = (first["NextContinuationToken"] ?? "").replacing("=", with: "%3D")
            let second = try await client.send("GET", query: "continuation-token=\(token)&delimiter=%2F&list-type=2")
            #expect(second.all("Key") == ["ab", "b"] && second["CommonPrefixes"] == nil)
        }
    }

    @Test func `The URL encoding is that of forms`() async throws {
        try await ScriptedS3Server.run { server in
            server.store([], at: "a b+c~*/\u{1}ü")
            let reply = try await RawClient(server: server).send("GET", query: "encoding-type=url&list-type=2")
            #expect(reply["Key"] == "a+b%2Bc%7E*/%01%C3%BC" && reply["EncodingType"] == "url")
            let plain = try await RawClient(server: server).send("GET", query: "list-type=2")
            #expect(plain["Key"] == "a b+c~*/&#x1;ü")
        }
    }

    @Test(arguments: [
        "continuation-token=nonsense&list-type=2", "continuation-token=bm9uc2Vuc2U%3D&list-type=2",
        "list-type=2&max-keys=many", "list-type=2&max-keys=-1", "encoding-type=html&list-type=2", "list-type=3",
    ])
    func `What makes no sense is an invalid argument`(query: String) async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await RawClient(server: server).send("GET", query: query)
            #expect(reply.status == 400 && reply["Code"] == "InvalidArgument")
        }
    }

    @Test func `No page has more than a thousand keys`() async throws {
        try await ScriptedS3Server.run { server in
            for number in 0..<1_001 { server.store([], at: "\(number)") }
            let reply = try await RawClient(server: server).send("GET", query: "list-type=2&max-keys=5000")
            #expect(reply.all("Key").count == 1_000 && reply["MaxKeys"] == "1000" && reply["IsTruncated"] == "true")
        }
    }
}
