import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem

/// Pages that follow what happens, where a script listens: server-sent events (WHATWG HTML, 9.2).
extension GallerySite {
    /// Pages that may be followed.
    private static let followed = ["vacations", "shares", "status"]

    /// Tells each time that another look at a page would show something else.
    func events(_ request: WebRequest, _ session: String) -> WebResponse {
        guard let name = request.query("page"), Self.followed.contains(name) else { return missing() }
        guard let place = followers.take() else {
            return WebResponse(503, headers: [.init("Retry-After", "60")] + Self.security)
        }
        let follower = PageFollower(place, time: time) { try await state(of: name, request, session) }
        return Self.content("text/event-stream", Self.noStore, .stream(AsyncStream { await follower.next() }))
    }

    /// The status asks the store, which may cost something: of it, what the ledger tells.
    private func state(of page: String, _ request: WebRequest, _ session: String) async throws -> Data {
        guard page != "status" else { return try await metricsText() }
        guard case .bytes(let bytes) = try await show([page], request, session).body else { return Data() }
        return bytes
    }
}

/// Looks at a page for as long as somebody takes what it tells.
private actor PageFollower {
    private static let lookEvery = Duration.seconds(2)
    /// Nothing is told for so many looks; then a comment shows whether the other side is still there.
    private static let silence = 8

    private let place: PlaceLimit.Place
    private let time: TimeSource
    private let look: @Sendable () async throws -> Data
    private var seen: Data?

    init(_ place: PlaceLimit.Place, time: TimeSource, look: @escaping @Sendable () async throws -> Data) {
        self.place = place
        self.time = time
        self.look = look
    }

    /// - Returns: `nil` at the end: the browser comes again.
    func next() async -> Data? {
        do {
            if seen == nil {
                seen = try await look()
                return Data("retry: 5000\n\n".utf8)
            }
            for _ in 0..<Self.silence {
                try await time.sleep(Self.lookEvery)
                let now = try await look()
                if now != seen {
                    seen = now
                    return Data("data: changed\n\n".utf8)
                }
            }
            return Data(":\n\n".utf8)
        } catch {
            return nil
        }
    }
}
