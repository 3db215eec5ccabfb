import FoundationEssentials
import SyncCore
import SyncLocalStore
import SyncS3
import SyncTestSupport
import Testing

/// The stores that the contract suite runs over.
enum TestedStore: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory, embedded
    /// A server of moto, which `scripts/test-servers` starts.
    case moto

    /// Those that there are: moto only where its server runs.
    static var available: [TestedStore] { allCases.filter { $0 != .moto || TestServer.endpoint != nil } }

    /// A new store, or a new corner of a shared one.
    func make() throws -> StoreUnderTest {
        let tree = try TemporaryTree()
        switch self {
        case .memory:
            return StoreUnderTest(name: rawValue, store: InMemoryStore(), prefix: "t", tree: tree)
        case .embedded:
            let store = LocalStore(root: tree.path("store"), now: { Date() })
            return StoreUnderTest(name: rawValue, store: store, prefix: "t", tree: tree)
        case .moto:
            return StoreUnderTest(
                name: rawValue, store: try TestServer.store.get(), gaps: [.storesWrongDigest, .provesNoSHA256],
                prefix: "t-\(UUID())", tree: tree)
        }
    }

    var testDescription: String { rawValue }
}

/// The S3 server of the environment.
enum TestServer {
    private static let environment = ProcessInfo.processInfo.environment

    static let endpoint = environment["SYNC_AGENT_TEST_S3_ENDPOINT"]

    /// Whether its absence is a failure: in CI, and where one says so.
    static let isRequired = environment["CI"] == "true" || environment["SYNC_AGENT_REQUIRE_SERVERS"] == "1"

    /// One store for all tests: they share its connections, as the uploads of an agent do.
    static let store = Result<any ObjectStore, any Error> {
        try S3Store(
            settings: S3Settings(
                bucket: environment["SYNC_AGENT_TEST_S3_BUCKET"] ?? "contract", endpoint: endpoint, addressing: .path),
            environment: ["AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all"],
            now: { Date() })
    }
}
