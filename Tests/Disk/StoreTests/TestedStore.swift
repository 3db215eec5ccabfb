import FoundationEssentials
import SyncCore
import SyncLocalStore
import SyncS3
import SyncTestSupport
import Testing

/// The stores that the contract suite runs over.
enum TestedStore: Sendable, CustomTestStringConvertible {
    case memory, embedded
    /// Ours for S3, before the server of SyncTestSupport: the one that plays Amazon whole.
    case scripted
    case server(TestServer)

    /// Those that there are.
    static var available: [TestedStore] {
        [.memory, .embedded, .scripted] + TestServer.available.map { .server($0) }
    }

    private var isEmbedded: Bool {
        if case .embedded = self { true } else { false }
    }

    /// Hands `body` a new store, or a new corner of a shared one.
    func run(_ body: (StoreUnderTest) async throws -> Void) async throws {
        // The embedded store promises what it does of a disk.
        let tree = try TemporaryTree(in: self.isEmbedded ? .disk : .memory)
        let time = ManualTime()
        switch self {
        case .memory:
            let store = InMemoryStore(now: time.source.now, restoreDuration: .seconds(5), lifecycle: .byRules)
            try await body(subject(store, in: tree, .manual(time)))
        case .embedded:
            let store = LocalStore(root: tree.path("store"), now: time.source.now, restoreDuration: .seconds(5))
            try await body(subject(store, in: tree, .manual(time)))
        case .scripted:
            let server = try ScriptedS3Server(now: time.source.now, restoreTime: { _, _ in .seconds(5) })
            do {
                let store = try S3Store(
                    settings: S3Settings(
                        bucket: server.bucket, endpoint: server.endpoint, addressing: .path, checksums: true),
                    environment: server.environment, now: time.source.now)
                try await body(subject(store, in: tree, .manual(time)))
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        case .server(let server):
            try await body(
                StoreUnderTest(
                    name: testDescription, store: try server.store(), gaps: server.gaps, prefix: "t-\(UUID())",
                    tree: tree, clock: .wall, fetch: PlainRead.bytes))
        }
    }

    private func subject(
        _ store: any ObjectStore, in tree: TemporaryTree, _ clock: StoreUnderTest.Clock
    ) -> StoreUnderTest {
        StoreUnderTest(
            name: testDescription, store: store, prefix: "t", tree: tree, clock: clock, fetch: PlainRead.bytes)
    }

    var testDescription: String {
        switch self {
        case .memory: "memory"
        case .embedded: "embedded"
        case .scripted: "scripted"
        case .server(let server): server.rawValue
        }
    }
}

extension TestServer {
    /// What each lacks of the promises, as seen on the versions that the scripts install.
    fileprivate var gaps: Set<StoreUnderTest.Gap> {
        switch self {
        case .moto: [.storesWrongDigest, .provesNoSHA256, .looksBeforeItPuts, .restoresAtOnce, .forgetsRuleSizes]
        case .ministack: [.provesNoSHA256]
        case .rclone:
            [
                .provesNoSHA256, .losesRaces, .readsArchived, .listsNoClasses, .keysArePaths, .shortNames,
                .copiesChangeAttributes, .restoresNothing, .keepsNoRules,
            ]
        case .ceph: [.provesNoSHA256, .readsArchived, .restoresNothing, .forgetsRuleSizes]
        }
    }
}
