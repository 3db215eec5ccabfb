import SyncCore
import SyncTestSupport
import Testing

@Suite struct ObjectTests {
    @Test func `What was put comes back, with its headers`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let put = try await client.send(
                "PUT", "a/b%20c",
                headers: [
                    "content-type": "image/jpeg", "cache-control": "no-store", "x-amz-meta-width": "2048",
                    "x-amz-storage-class": "STANDARD_IA",
                ], body: "abc")
            #expect(put.status == 200 && put.headers["etag"] == "\"900150983cd24fb0d6963f7d28e17f72\"")
            for method in ["GET", "HEAD"] {
                let reply = try await client.send(method, "a/b%20c")
                #expect(reply.status == 200 && reply.isWhole && reply.text == (method == "GET" ? "abc" : ""))
                let expected = [
                    "content-length": "3", "content-type": "image/jpeg", "cache-control": "no-store",
                    "x-amz-meta-width": "2048", "x-amz-storage-class": "STANDARD_IA",
                    "etag": "\"900150983cd24fb0d6963f7d28e17f72\"", "x-amz-server-side-encryption": "AES256",
                ]
                for (name, value) in expected { #expect(reply.headers[name] == value, "\(name)") }
            }
            #expect(server.object("a/b c")?.storageClass == .standardIA)
            #expect(try await client.send("DELETE", "a/b%20c").status == 204)
            #expect(try await client.send("DELETE", "a/b%20c").status == 204)
            let gone = try await client.send("GET", "a/b%20c")
            #expect(gone.status == 404 && gone["Code"] == "NoSuchKey" && gone["Key"] == "a/b c")
            let head = try await client.send("HEAD", "a/b%20c")
            #expect(head.status == 404 && head.body.isEmpty && head.headers["content-length"] == nil)
        }
    }

    @Test func `Standard is the class that is not told`() async throws {
        try await ScriptedS3Server.run { server in
            server.store([1], at: "a")
            let head = try await RawClient(server: server).send("HEAD", "a")
            #expect(head.status == 200 && head.headers["x-amz-storage-class"] == nil)
        }
    }

    @Test func `The ETag of an object under a KMS key is no MD5`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let encryption = ["x-amz-server-side-encryption": "aws:kms"]
            let put = try await client.send("PUT", "a", headers: encryption, body: "abc")
            #expect(put.headers["etag"]?.count == 34 && put.headers["etag"] != "\"900150983cd24fb0d6963f7d28e17f72\"")
            let wrong = try await client.send("PUT", "a", headers: ["x-amz-server-side-encryption": "rot13"])
            #expect(wrong.status == 400 && wrong["Code"] == "InvalidArgument")
        }
    }

    @Test(arguments: [
        ("bytes=0-0", 206, "0", "bytes 0-0/10"), ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=7-", 206, "789", "bytes 7-9/10"), ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=5-99", 206, "56789", "bytes 5-9/10"), ("bytes=-99", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=0-1,4-5", 200, "0123456789", nil), ("bytes=x-y", 200, "0123456789", nil),
        ("lines=0-1", 200, "0123456789", nil), ("bytes=10-", 416, nil, nil), ("bytes=10-20", 416, nil, nil),
    ])
    func `Ranges are cut out`(range: String, status: Int, text: String?, header: String?) async throws {
        try await ScriptedS3Server.run { server in
            server.store(Array("0123456789".utf8), at: "a")
            let reply = try await RawClient(server: server).send("GET", "a", headers: ["range": range])
            #expect(reply.status == status && reply.headers["content-range"] == header, "\(reply.text)")
            if let text { #expect(reply.text == text) } else { #expect(reply["ActualObjectSize"] == "10") }
        }
    }

    @Test func `Conditions decide over reads and writes`() async throws {
        try await ScriptedS3Server.run { server in
            server.store(Array("abc".utf8), at: "a")
            let etag = "\"900150983cd24fb0d6963f7d28e17f72\""
            let table: [(String, String, [String: String], Int)] = [
                ("PUT", "a", ["if-none-match": "*"], 412), ("PUT", "new", ["if-none-match": "*"], 200),
                ("PUT", "a", ["if-none-match": etag], 501), ("PUT", "a", ["if-match": "\"0\""], 412),
                ("PUT", "none", ["if-match": etag], 404), ("GET", "a", ["if-match": etag], 200),
                ("GET", "a", ["if-match": "\"0\""], 412), ("GET", "a", ["if-none-match": etag], 304),
                ("PUT", "a", ["if-match": etag], 200),
            ]
            for (method, key, headers, status) in table {
                let reply = try await RawClient(server: server).send(method, key, headers: headers)
                #expect(reply.status == status, "\(method) \(key) \(headers)")
            }
            #expect(server.object("a")?.generation == 2)
        }
    }

    @Test func `What is too long is refused`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let longest = try await client.send("PUT", String(repeating: "k", count: 1_024))
            #expect(longest.status == 200)
            #expect(try await client.send("PUT", String(repeating: "k", count: 1_025))["Code"] == "KeyTooLongError")
            let value = String(repeating: "v", count: 2_047)
            #expect(try await client.send("PUT", "a", headers: ["x-amz-meta-n": value]).status == 200)
            #expect(try await client.send("PUT", "a", headers: ["x-amz-meta-nn": value])["Code"] == "MetadataTooLarge")
            #expect(
                try await client.send("PUT", "a", headers: ["x-amz-storage-class": "COLD"])["Code"]
                    == "InvalidStorageClass")
        }
    }

    @Test func `Metadata that is not ASCII comes back encoded twice`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            #expect(try await client.send("PUT", "a", headers: ["x-amz-meta-n": "Ä"]).status == 200)
            let head = try await client.send("HEAD", "a")
            #expect(head.headers["x-amz-meta-n"] == "=?UTF-8?B?w4PChA==?=")
        }
    }

    @Test func `Many are deleted with one request, and each refusal is named`() async throws {
        try await ScriptedS3Server.run { server in
            for key in ["a", "b&c", "d"] { server.store([], at: key) }
            server.protect("d")
            let client = RawClient(server: server)
            let body =
                "<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object><Object><Key>d</Key></Object>"
                + "<Object><Key>never there</Key></Object></Delete>"
            #expect(try await client.send("POST", query: "delete=", body: body)["Code"] == "InvalidRequest")
            let md5 = ["content-md5": ContentDigestText.md5(body)]
            let reply = try await client.send("POST", query: "delete=", headers: md5, body: body)
            #expect(reply.all("Deleted") == ["a", "b&amp;c", "never there"].map { "<Key>\($0)</Key>" })
            #expect(reply["Error"]?.hasPrefix("<Key>d</Key><Code>AccessDenied</Code>") == true)
            #expect(server.keys == ["d"])
        }
    }

    @Test(arguments: [
        ("<Delete><Object><Key>a</Key></Object></Delete>", "a"),
        (
            "<?xml version=\"1.0\"?>\n<!-- x -->\n<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet/>\n"
                + " <Object >\n<Key>a</Key><!-- <Key>b</Key> --></Object></Delete>\n", "a"
        ),
        (
            "<s3:Delete><s3:Object><s3:Key>&#97;&amp;&lt;&#x62;&quot;&gt;&apos;</s3:Key></s3:Object></s3:Delete>",
            "a&<b\">'"
        ),
        ("<Delete><Object><Key><![CDATA[a<b>&amp;]]></Key></Object></Delete>", "a<b>&amp;"),
        ("<Delete><Object>", nil), ("<Delete><Object><Key>a</Object></Key></Delete>", nil), ("", nil), ("text", nil),
        ("<Delete><Object><Key>a&b;</Key></Object></Delete>", nil), ("<Delete></Delete>", nil),
        ("<Delete><Object><Key>a & b</Key></Object></Delete>", nil), ("<Remove></Remove>", nil),
        ("<Delete><Object><Key>a</Key></Object></Delete><Delete/>", nil), ("<Delete><Object/></Delete>", nil),
    ])
    func `The XML of a request is read as it is meant, or refused`(body: String, key: String?) async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await RawClient(server: server).send(
                "POST", query: "delete=", headers: ["content-md5": ContentDigestText.md5(body)], body: body)
            let escaped = key?.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
                .replacing("\"", with: "&quot;")
            #expect(reply["Key"] == escaped && reply["Code"] == (key == nil ? "MalformedXML" : nil))
        }
    }

    @Test func `A copy takes another class, also in place`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            _ = try await client.send("PUT", "a%2Bb", headers: ["x-amz-meta-n": "1"], body: "abc")
            let source = ["x-amz-copy-source": "/photos/a%2Bb"]
            #expect(try await client.send("PUT", "a%2Bb", headers: source)["Code"] == "InvalidRequest")
            let deep = source.merging(["x-amz-storage-class": "DEEP_ARCHIVE"]) { $1 }
            let copied = try await client.send("PUT", "a%2Bb", headers: deep)
            #expect(copied.status == 200 && copied["ETag"] == "&quot;900150983cd24fb0d6963f7d28e17f72&quot;")
            #expect(server.object("a+b")?.storageClass == .deepArchive && server.object("a+b")?.metadata == ["n": "1"])
            let again = try await client.send("PUT", "c", headers: source)
            #expect(again.status == 403 && again["Code"] == "ObjectNotInActiveTierError")
            let missing = try await client.send("PUT", "c", headers: ["x-amz-copy-source": "photos/none"])
            #expect(missing["Code"] == "NoSuchKey")
            #expect(server.requests.last?.operation == .copyObject)
        }
    }
}
