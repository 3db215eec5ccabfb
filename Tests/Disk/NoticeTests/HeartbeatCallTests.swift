import Foundation
import SyncConfig
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct HeartbeatCallTests {
    private func call(_ statuses: [Int]) async throws -> (requests: [RecordingServer.Request], failure: String?) {
        let server = try RecordingServer(statuses: statuses)
        var failure: String?
        do {
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/ping/t0k3n?a=1"))
            try await HeartbeatCall(address: SecretURL(url)).run()
        } catch let error as NoticeFailure {
            failure = error.description
        }
        await server.stop()
        return (server.requests, failure)
    }

    @Test func `the address is called once, by GET and without a body`() async throws {
        let (requests, failure) = try await call([204])
        #expect(failure == nil)
        #expect(requests.map(\.method) == ["GET"])
        #expect(requests.map(\.target) == ["/ping/t0k3n?a=1"])
        #expect(requests.map(\.body.count) == [0])
    }

    @Test(arguments: [301, 404, 500])
    func `another answer is a failure that tells nothing of the address, and is not tried again`(status: Int)
        async throws
    {
        let (requests, failure) = try await call([status])
        #expect(requests.count == 1)
        #expect(failure == "notify.heartbeat answered \(status); check the address in the configuration")
    }

    @Test func `nobody there is a failure too`() async throws {
        let silent = try SilentPort(listens: false)
        let url = try #require(URL(string: "http://127.0.0.1:\(silent.number)/t0k3n"))
        await #expect(throws: NoticeFailure("notify.heartbeat cannot be reached; check the network and the address")) {
            try await HeartbeatCall(address: SecretURL(url)).run()
        }
        withExtendedLifetime(silent) {}
    }
}
