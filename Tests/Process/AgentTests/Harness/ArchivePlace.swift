import Foundation
import SystemPackage
import Testing

/// A kind of store that knows archived objects and restores, for tests that run on each.
enum ArchivePlace: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case embedded
    /// Restores at once, and tells so with the first look.
    case moto
    /// Takes two seconds over a restore.
    case ministack

    /// Those that there are: the embedded one always, a server when `scripts/test-servers` has started it.
    static var available: [ArchivePlace] { allCases.filter { $0 == .embedded || $0.endpoint != nil } }

    /// Those that have to be there: S3 servers in CI, and where one says so.
    static var required: [ArchivePlace] { S3Server.isRequired ? allCases : [.embedded] }

    private var endpoint: String? {
        let environment = ProcessInfo.processInfo.environment
        return switch self {
        case .embedded: nil
        case .moto: environment["SYNC_AGENT_TEST_S3_ENDPOINT"]
        case .ministack: environment["SYNC_AGENT_TEST_MINISTACK_ENDPOINT"]
        }
    }

    var testDescription: String { rawValue }

    /// A home over a new store of this kind. A pass archives what it stores.
    func makeHome(restoring: Int = 2, more: String = "") async throws -> (home: AgentHome, bytes: StoredBytes) {
        let more = AgentHome.archivesAtOnce + "\n" + more
        guard let endpoint else {
            let home = try AgentHome(restoring: restoring, more: more)
            return (home, .folder(home.store))
        }
        let server = S3Server(endpoint: endpoint)
        try await server.makeBucket()
        return (try server.home(more: more), .server(server))
    }
}

/// Reads what is stored past the program.
enum StoredBytes: Sendable {
    case folder(StoreFolder)
    /// Gives only what can be read: not what is archived.
    case server(S3Server)

    func of(_ key: String) async throws -> [UInt8] {
        switch self {
        case .server(let server): return try await server.bytes(of: key)
        case .folder(let store):
            let object = try #require(try store.objects().first { $0.key == key })
            return try store.bytes(of: object)
        }
    }
}

extension StoredBytes {
    /// What the embedded store tells of an object; others are asked in other tests.
    func known(_ key: String) -> StoreFolder.Object? {
        guard case .folder(let store) = self else { return nil }
        return try? store.objects().first { $0.key == key }
    }
}
