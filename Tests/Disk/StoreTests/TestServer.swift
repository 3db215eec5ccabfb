import FoundationEssentials
import SyncCore
import SyncS3
import SyncSystem
import Testing

/// An S3 server that the environment names: `scripts/test-servers` and `scripts/interop` start them.
enum TestServer: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case moto, ministack, rclone, ceph

    /// Those that there are.
    static var available: [TestServer] { allCases.filter { $0.endpoint != nil } }

    /// Those whose absence is a failure: what the script has started, and in CI at least the ones of `make test`.
    static var required: [TestServer] {
        if let names = environment["SYNC_AGENT_REQUIRED_SERVERS"] {
            return names.split(separator: " ").compactMap { TestServer(rawValue: String($0)) }
        }
        return environment["CI"] == "true" ? [.moto, .ministack, .rclone] : []
    }

    private static let environment = ProcessInfo.processInfo.environment

    static let bucket = environment["SYNC_AGENT_TEST_BUCKET", default: "contract"]
    static let keyID = environment["SYNC_AGENT_TEST_KEY_ID", default: ""]
    static let secret = environment["SYNC_AGENT_TEST_SECRET", default: ""]

    /// One store for all tests: they share its connections, as the uploads of an agent do.
    private static let stores = Lock<[TestServer: S3Store]>([:])

    var endpoint: String? { Self.environment[variable] }

    var variable: String {
        switch self {
        case .moto: "SYNC_AGENT_TEST_S3_ENDPOINT"
        case .ministack, .rclone, .ceph: "SYNC_AGENT_TEST_\(rawValue.uppercased())_ENDPOINT"
        }
    }

    var settings: S3Settings { S3Settings(bucket: Self.bucket, endpoint: endpoint, addressing: .path) }

    /// The store that all tests share.
    func store() throws -> S3Store {
        try Self.stores.withLock { stores in
            if let store = stores[self] { return store }
            let store = try newStore()
            stores[self] = store
            return store
        }
    }

    /// A store of the test's own.
    func newStore(
        keyID: String = keyID, secret: String = secret, now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> S3Store {
        try S3Store(
            settings: settings, environment: ["AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret], now: now)
    }

    var testDescription: String { rawValue }
}
