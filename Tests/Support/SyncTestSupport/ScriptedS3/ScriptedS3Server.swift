package import FoundationEssentials
package import SyncCore
import SyncSystem
package import SystemPackage

/// An S3 server of our own on 127.0.0.1, in this process, that answers as Amazon does and can be told to fail.
///
/// It verifies each signature, digest and date by itself, keeps its objects in memory, records every request, and plays
/// scripts of faults. What it must do is written from Amazon's documentation, not from our client.
///
/// ```swift
/// try await ScriptedS3Server.run { server in
///     server.script(.answer(ScriptedAnswer(503, "SlowDown"), at: .beforeReply), on: .putObject, key: "a.jpg")
///     let store = try S3Store(
///         settings: S3Settings(bucket: server.bucket, region: server.region, endpoint: server.endpoint),
///         environment: server.environment, now: { Date() })
///     …
///     #expect(server.requests(.putObject).map(\.status) == [503, 412])
/// }
/// ```
package final class ScriptedS3Server: Sendable {
    /// `http://127.0.0.1:PORT`.
    package let endpoint: String
    package let port: Int
    /// The bucket that exists from the start.
    package let bucket: String
    package let region: String
    let state: Lock<ServerState>
    let restoreTime: @Sendable (StorageClass, RestoreRecord.Tier) -> Duration
    private let clock: @Sendable () -> Date
    private let listener: Lock<LoopbackServer?>

    /// Takes a free port and serves until ``stop()``.
    /// - Parameters:
    ///   - now: the server's clock, before ``setClock(ahead:)``.
    ///   - restoreTime: how long a restore runs, by class (GLACIER or DEEP_ARCHIVE) and tier.
    package init(
        bucket: String = "photos", region: String = "eu-central-1", credentials: [ServerCredentials] = [.usual],
        now: @escaping @Sendable () -> Date = { Date() },
        restoreTime: @escaping @Sendable (StorageClass, RestoreRecord.Tier) -> Duration = RestoreTimes.amazon
    ) throws(Errno) {
        self.bucket = bucket
        self.region = region
        self.restoreTime = restoreTime
        clock = now
        var state = ServerState(credentials: credentials)
        state.buckets[bucket] = StoredBucket(name: bucket, region: region)
        self.state = Lock(state)
        let box = ServerReference()
        let listener = try LoopbackServer { connection in
            guard let server = box.server else { return }
            ConnectionSession(server: server, connection: connection).run()
        }
        self.listener = Lock(listener)
        port = listener.port
        endpoint = "http://127.0.0.1:\(listener.port)"
        box.server = self
    }

    /// Ends every connection where it stands. Afterwards no thread and no descriptor is left.
    package func stop() async {
        let listener = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        await listener?.stop()
    }

    /// Waits until no request of clients that have ended can be noted or carried out any more. To be called when a client
    /// was killed, before anything is counted.
    /// - Throws: as ``LoopbackServer/quiesce()`` does.
    package func quiesce() async throws {
        try await listener.withLock { $0 }?.quiesce()
    }

    /// A server for the length of `body`, with everything as usual.
    package static func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (ScriptedS3Server) async throws -> Result
    ) async throws -> Result {
        let server = try ScriptedS3Server()
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// The variables that make a client of AWS use this server.
    package var environment: [String: String] {
        let pair = state.withLock { $0.credentials.first }
        var variables = ["AWS_REGION": region, "AWS_ENDPOINT_URL_S3": endpoint]
        variables["AWS_ACCESS_KEY_ID"] = pair?.accessKeyID
        variables["AWS_SECRET_ACCESS_KEY"] = pair?.secretAccessKey
        variables["AWS_SESSION_TOKEN"] = pair?.sessionToken
        return variables
    }

    /// What the server takes for the time.
    package var now: Date {
        clock().addingTimeInterval(state.withLock { $0.clockOffset })
    }

    /// How far the server's clock is ahead of the one it was given; negative: behind. Restores end and links expire by
    /// it.
    package func setClock(ahead offset: Duration) {
        state.withLock { $0.clockOffset = offset / .seconds(1) }
    }

    package func advanceClock(by duration: Duration) {
        state.withLock { $0.clockOffset += duration / .seconds(1) }
    }
}

/// The way from the listener's thread to the server that owns it. Weak: an abandoned server ends its connections.
private final class ServerReference: Sendable {
    private struct Weak {
        weak var server: ScriptedS3Server?
    }

    private let value = Lock(Weak())

    var server: ScriptedS3Server? {
        get { value.withLock { $0.server } }
        set { value.withLock { $0.server = newValue } }
    }
}
