import SyncTestSupport
import Testing

@Suite struct LifecycleTests {
    private static let rule =
        "<Rule><ID>x</ID><Filter><Prefix>a/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days>"
        + "</Expiration></Rule>"

    private func put(_ server: ScriptedS3Server, _ rules: String, md5: Bool = true) async throws -> RawReply {
        let body = "<LifecycleConfiguration>\(rules)</LifecycleConfiguration>"
        return try await RawClient(server: server).send(
            "PUT", query: "lifecycle=", headers: md5 ? ["content-md5": ContentDigestText.md5(body)] : [:], body: body)
    }

    @Test func `Rules come back to the letter, and are replaced as a whole`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let none = try await client.send("GET", query: "lifecycle=")
            #expect(none.status == 404 && none["Code"] == "NoSuchLifecycleConfiguration")
            let foreign = Self.rule.replacing("</Rule>", with: "<NewThing a=\"1\">&#x41;</NewThing></Rule>")
            #expect(try await put(server, foreign).status == 200)
            let body = "<LifecycleConfiguration>\(foreign)</LifecycleConfiguration>"
            #expect(try await client.send("GET", query: "lifecycle=").text == body)
            #expect(try await put(server, Self.rule).status == 200)
            #expect(server.lifecycle == "<LifecycleConfiguration>\(Self.rule)</LifecycleConfiguration>")
            #expect(try await client.send("DELETE", query: "lifecycle=").status == 204)
            #expect(server.lifecycle == nil)
            #expect(try await client.send("HEAD").status == 200)
        }
    }

    @Test(arguments: [
        (rule + rule, "InvalidArgument"), ("", "MalformedXML"),
        (rule.replacing("Enabled", with: "On"), "MalformedXML"),
        (rule.replacing("<Filter><Prefix>a/</Prefix></Filter>", with: ""), "MalformedXML"),
        (
            rule.replacing("</Filter>", with: "<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>"),
            "MalformedXML"
        ),
        (rule.replacing("<Expiration><Days>30</Days></Expiration>", with: ""), "InvalidRequest"),
        (
            rule.replacing(
                "</Rule>",
                with: "<Transition><Days>3</Days><StorageClass>STANDARD_IA</StorageClass></Transition></Rule>"),
            "InvalidArgument"
        ),
        (
            rule.replacing(
                "</Rule>", with: "<Transition><Days>3</Days><StorageClass>STANDARD</StorageClass></Transition></Rule>"),
            "MalformedXML"
        ),
    ])
    func `Wrong rules are refused`(rules: String, code: String) async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await put(server, rules)
            #expect(reply.status == 400 && reply["Code"] == code)
            #expect(server.lifecycle == nil)
        }
    }

    @Test func `A digest is demanded`() async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await put(server, Self.rule, md5: false)
            #expect(reply["Message"] == "Missing required header for this request: Content-MD5")
        }
    }
}
