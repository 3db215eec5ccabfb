import FoundationEssentials
import SyncConfig
import SyncCore
import SyncS3

/// One call of `notify.heartbeat`. Whoever knows the address can call it, so that no error tells any of it.
struct HeartbeatCall: Sendable {
    private static let limit = Duration.seconds(10)

    let address: SecretURL

    /// - Throws: ``NoticeFailure``; `CancellationError`.
    func run() async throws {
        guard let url = HTTPURL(address.revealed) else {
            throw NoticeFailure("notify.heartbeat is no http or https address; correct it in the configuration")
        }
        var request = HTTPRequest(.get, url, headers: ["User-Agent": "sync-agent"])
        request.patience = Self.limit
        request.limit = Self.limit
        let transport = try CurlTransport()
        let status: Int
        do {
            status = try await closing(transport.close) { [request] in
                try await transport.send(request, target: .sink(accepts: { _ in true }, { _ in })).status
            }
        } catch let error as TransportError {
            throw NoticeFailure("notify.heartbeat \(WebhookNotifier.Problem(error.code).words)")
        }
        guard (200..<300).contains(status) else {
            throw NoticeFailure("notify.heartbeat answered \(status); check the address in the configuration")
        }
    }
}
