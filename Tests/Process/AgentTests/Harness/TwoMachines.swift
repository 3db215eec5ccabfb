import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// Where two machines meet: a store that both use, and how its shares are reached by people who cannot use it.
enum MeetingPlace: String, Sendable, CaseIterable, CustomTestStringConvertible {
    /// A store in a folder; nobody else reaches it.
    case folder
    /// A store in a folder, with a web server over it.
    case web
    /// A bucket and signed links. moto checks no signature, MiniStack does.
    case moto, ministack

    static var available: [MeetingPlace] { allCases.filter { $0.variable == nil || $0.endpoint != nil } }

    private var variable: String? {
        switch self {
        case .folder, .web: nil
        case .moto: "SYNC_AGENT_TEST_S3_ENDPOINT"
        case .ministack: "SYNC_AGENT_TEST_MINISTACK_ENDPOINT"
        }
    }

    fileprivate var endpoint: String? { variable.flatMap { ProcessInfo.processInfo.environment[$0] } }

    var testDescription: String { rawValue }
}

/// Two machines with a configuration each, and one store.
struct TwoMachines: Sendable {
    let sharer: AgentHome
    let friend: AgentHome
    let stored: StoredBytes
    /// Over the store's folder; `nil` elsewhere.
    let web: WebOrigin?

    /// - Parameter more: further lines of the sharer's configuration, without `share`.
    static func run<Result>(
        at place: MeetingPlace, more: String = "", _ body: (TwoMachines) async throws -> Result
    ) async throws -> Result {
        let web = place == .web ? try WebOrigin() : nil
        do {
            let result = try await body(try await TwoMachines(place, web, more))
            await web?.stop()
            return result
        } catch {
            await web?.stop()
            throw error
        }
    }

    private init(_ place: MeetingPlace, _ web: WebOrigin?, _ more: String) async throws {
        self.web = web
        guard let endpoint = place.endpoint else {
            let base = web.map { "share: {public_base_url: '\($0.address)'}\n" } ?? ""
            sharer = try AgentHome(more: base + more)
            friend = try AgentHome(store: "{type: directory, path: \(sharer.store.root)}")
            stored = .folder(sharer.store)
            web?.serve(sharer.store)
            return
        }
        let server = S3Server(endpoint: endpoint)
        try await server.makeBucket()
        sharer = try server.home(more: more)
        friend = try server.home()
        stored = .server(server)
    }

    /// The photos of a share as they are stored, by the SHA-256 that its manifest gives.
    func shared(_ id: String) async throws -> [String: [UInt8]] {
        var photos: [String: [UInt8]] = [:]
        for photo in try await manifest(id).photos {
            photos[photo.sha256] = try await stored.of("shares/\(id)/\(id)_\(photo.orderIndex).jpg")
        }
        return photos
    }

    func manifest(_ id: String) async throws -> SharedManifest {
        try JSONDecoder().decode(
            SharedManifest.self, from: Data(try await stored.of("shares/\(id)/vacation.json")))
    }

    /// The bytes that the friend has, by their SHA-256.
    func mirrored(_ folder: String) throws -> [String: [UInt8]] {
        try friend.mirrored(folder).mapValues { try $0.bytes }
    }
}
