import FoundationEssentials
import SyncLocalStore
import SyncTestSupport
import Testing

/// The stores that the contract suite runs over.
enum TestedStore: Sendable, CustomTestStringConvertible {
    case memory, embedded
    case server(TestServer)

    /// Those that there are.
    static var available: [TestedStore] { [.memory, .embedded] + TestServer.available.map { .server($0) } }

    /// A new store, or a new corner of a shared one.
    func make() throws -> StoreUnderTest {
        let tree = try TemporaryTree()
        switch self {
        case .memory:
            return StoreUnderTest(name: testDescription, store: InMemoryStore(), prefix: "t", tree: tree)
        case .embedded:
            let store = LocalStore(root: tree.path("store"), now: { Date() })
            return StoreUnderTest(name: testDescription, store: store, prefix: "t", tree: tree)
        case .server(let server):
            return StoreUnderTest(
                name: testDescription, store: try server.store(), gaps: server.gaps, prefix: "t-\(UUID())", tree: tree)
        }
    }

    var testDescription: String {
        switch self {
        case .memory: "memory"
        case .embedded: "embedded"
        case .server(let server): server.rawValue
        }
    }
}

extension TestServer {
    /// What each lacks of the promises, as seen on the versions that the scripts install.
    fileprivate var gaps: Set<StoreUnderTest.Gap> {
        switch self {
        case .moto: [.storesWrongDigest, .provesNoSHA256]
        case .ministack: [.provesNoSHA256]
        case .rclone:
            [.provesNoSHA256, .losesRaces, .readsArchived, .listsNoClasses, .keysArePaths, .shortNames]
        case .ceph: [.provesNoSHA256, .readsArchived]
        }
    }
}
