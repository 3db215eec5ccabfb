import Foundation
import SyncConfig
import SyncCore
import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct WebhookNotifierTests {
    private let sleeps = Lock<[Duration]>([])

    private func notifier(_ address: String) throws -> WebhookNotifier {
        let sleeps = sleeps
        return WebhookNotifier(
            address: SecretURL(try #require(URL(string: address))),
            time: TimeSource(
                now: { Date() }, monotonic: { .zero },
                sleep: { duration in
                    try Task.checkCancellation()
                    sleeps.withLock { $0.append(duration) }
                }, random: { 0.5 }))
    }

    private func requests(
        statuses: [Int], path: String = "/T0/B1", body: (WebhookNotifier) async throws -> Void
    ) async throws -> [RecordingServer.Request] {
        let server = try RecordingServer(statuses: statuses)
        do {
            try await body(try notifier("http://127.0.0.1:\(server.port)\(path)"))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        return server.requests
    }

    @Test func `A notice is posted as JSON, and once more as the text that chats show`() async throws {
        let requests = try await requests(statuses: [204], path: "/T0/B%2F1?b=1+2&a=%C3%A9&b") { notifier in
            try await notifier.deliver(.hostile)
        }
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.target == "/T0/B%2F1?b=1+2&a=%C3%A9&b")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == nil)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Notice.self, from: Data(request.body)) == .hostile)
        let text = try JSONDecoder().decode([String: JSONText].self, from: Data(request.body))["text"]?.text
        #expect(text == "\(Notice.hostile.title): \(Notice.hostile.message)")
    }

    /// The value of a field where it is a text.
    private struct JSONText: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    @Test func `Name and password of the address go into a header`() async throws {
        let server = try RecordingServer(statuses: [200])
        try await notifier("http://ana:p%40ss@127.0.0.1:\(server.port)").deliver(.hostile)
        await server.stop()
        #expect(server.requests.map(\.headers["authorization"]) == ["Basic YW5hOnBAc3M="])
        #expect(server.requests.map(\.target) == ["/"])
    }

    @Test func `What may pass is sent again`() async throws {
        let requests = try await requests(statuses: [503, 429, 200]) { try await $0.deliver(.hostile) }
        #expect(requests.count == 3)
        #expect(sleeps.withLock { $0 } == [.milliseconds(500), .seconds(1)])
    }

    @Test(
        arguments: [
            (404, 1, "notify.webhook answered 404; check the address in the configuration"),
            (302, 1, "notify.webhook answered 302, a redirect; configure the address that it leads to"),
            (500, 3, "notify.webhook answered 500"),
        ])
    func `A refusal is told without the address`(status: Int, count: Int, message: String) async throws {
        let requests = try await requests(statuses: [status]) { notifier in
            let error = await #expect(throws: NoticeFailure.self) { try await notifier.deliver(.hostile) }
            #expect(error?.description == message)
        }
        #expect(requests.count == count)
    }

    @Test func `An address that cannot be reached stays secret`() async throws {
        let notifier = try notifier("http://secret:word@127.0.0.1:1/secret")
        let error = await #expect(throws: NoticeFailure.self) { try await notifier.deliver(.hostile) }
        #expect(error?.description == "notify.webhook cannot be reached; check the network and the address")
    }
}
