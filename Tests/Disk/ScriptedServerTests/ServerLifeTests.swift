import Foundation
import SyncTestSupport
import Testing

@Suite struct ServerLifeTests {
    private static let anonymousGet = "GET /photos/a HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `A connection serves many requests and survives refused ones`() async throws {
        try await ScriptedS3Server.run { server in
            let anonymous = Self.anonymousGet
            let put = "PUT /photos/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            let replies = try await RawClient(server: server).exchange(inTurn: [anonymous, put, anonymous])
            #expect(replies.map(\.status) == [403, 403, 403])
            #expect(server.requests.map(\.connection) == [1, 1, 1])
            #expect(server.requests.map(\.received) == [0, 3, 0])
        }
    }

    @Test(arguments: ["\u{16}\u{3}\u{1}", "hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n"])
    func `What is no HTTP is answered at once`(text: String) async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await RawClient(server: server).exchange(text)
            #expect(reply.status == 400 && reply.headers["connection"] == "close")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `A malformed path is an error of S3`() async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await RawClient(server: server).exchange("GET /photos/%zz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(reply.status == 400 && reply["Code"] == "InvalidURI")
        }
    }

    @Test func `Buckets are found, made and missed, each in its region`() async throws {
        try await ScriptedS3Server.run { server in
            server.addBucket("elsewhere", region: "ap-south-1")
            var client = RawClient(server: server)
            let again = try await client.send("PUT")
            #expect(again.status == 409 && again["Code"] == "BucketAlreadyOwnedByYou")
            #expect(try await client.send("GET", query: "acl=").status == 501)
            client.bucket = "elsewhere"
            #expect(try await client.send("GET", query: "list-type=2")["Region"] == "ap-south-1")
            client.region = "ap-south-1"
            #expect(try await client.send("GET", query: "list-type=2").status == 200)
            client = RawClient(server: server)
            client.bucket = "new"
            #expect(try await client.send("GET", query: "list-type=2")["Code"] == "NoSuchBucket")
            #expect(try await client.send("PUT").status == 200)
            #expect(try await client.send("GET", query: "list-type=2").status == 200)
        }
    }

    @Test func `clients that have gone before anybody accepted them are waited for`() async throws {
        try await ScriptedS3Server.run { server in
            // Each takes the server a thread: it comes after them.
            for _ in 0..<100 { try RawConnection(port: server.port).write(Self.anonymousGet) }
            try await server.quiesce()
            #expect(server.requests.count == 100)
            server.clearRequests()
            _ = try await RawClient(server: server).send("HEAD")
            try await server.quiesce()
            #expect(server.requests.map(\.operation) == [.headBucket])
        }
    }

    @Test func `a request that was forgotten while it came is not noted in the place of the next`() async throws {
        try await ScriptedS3Server.run { server in
            do {
                let early = try RawConnection(port: server.port)
                early.write("PUT /photos/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
                try await eventually("its head") { server.requests.isEmpty ? nil : () }
                server.clearRequests()
                _ = try await RawClient(server: server).send("HEAD")
                early.write("abc")
            }
            try await server.quiesce()
            #expect(server.requests.map(\.operation) == [.headBucket])
        }
    }

    /// In a process of its own: beside other tests nobody could tell whose descriptor it is.
    @Test func `Nothing is left of a server`() async {
        await #expect(processExitsWith: .success) {
            try await Self.useAndStop()
            let before = try Self.descriptorsAndThreads()
            for _ in 0..<20 { try await Self.useAndStop() }
            let after = try Self.descriptorsAndThreads()
            #expect(after.descriptors == before.descriptors)
            // The cooperative pool may have grown by a thread or two; a server has three here.
            #expect(after.threads < before.threads + 20)
        }
    }

    /// One connection idles and one is stalled when the server stops.
    private static func useAndStop() async throws {
        let server = try ScriptedS3Server()
        server.script(.stall(.beforeReply), on: .headBucket, numbers: 2...2)
        let client = RawClient(server: server)
        _ = try await client.send("HEAD")
        async let stalled = client.send("HEAD")
        try await eventually("both") { server.requests.count == 2 ? () : nil }
        await server.stop()
        await server.stop()
        let reply = try await stalled
        #expect(reply.status == nil)
    }

    private static func descriptorsAndThreads() throws -> (descriptors: Int, threads: Int) {
        let files = FileManager.default
        return (
            try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
            try files.contentsOfDirectory(atPath: "/proc/self/task").count
        )
    }
}
