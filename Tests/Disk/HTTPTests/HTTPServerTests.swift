import SyncCore
import Testing

@Suite struct HTTPServerTests {
    @Test func `GET, HEAD and POST are answered on one connection`() async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            let get = await visitor.ask("GET /a/b%20c/?x=1&y=%C3%A4+%2B")
            #expect(get.status == 200)
            #expect(get.text == "get /a/b c/ x=1&y=ä + ")
            #expect(get.headers["x-content-type-options"] == "nosniff")
            #expect(get.headers["date"]?.hasSuffix(" GMT") == true)
            #expect(get.headers["connection"] == nil)
            let head = await visitor.ask("HEAD /a")
            #expect(head.status == 200 && head.headers["content-length"] == "\("head /a  ".utf8.count)")
            let post = await visitor.ask("POST /form", "Content-Length: 5\r\n", body: "a=b&c")
            #expect(post.text == "post /form  a=b&c")
            let chunked = await visitor.ask(
                "POST /form", "Transfer-Encoding: chunked\r\n", body: "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            #expect(chunked.text == "post /form  abcde")
        }
    }
}
