import FoundationEssentials
import Logging
import SyncCore
import SyncHTTP
import SyncTestSupport

/// A server on a free port, for as long as a test has use for it.
struct TestedServer: Sendable {
    let port: Int
    private let end: AsyncStream<Void>.Continuation

    /// Has the server end; returns at once.
    func stop() { end.finish() }

    /// - Returns: when `body` has, and the server has ended.
    static func run(
        limits: HTTPLimits = HTTPLimits(), logger: Logger = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() },
        largeBody: (path: [String], bytes: Int)? = nil,
        _ answer: @escaping @Sendable (WebRequest) async -> WebResponse = { WebResponse(echoing: $0) },
        _ body: (TestedServer) async throws -> Void
    ) async throws {
        let server = HTTPServer(
            address: try ListenAddress("127.0.0.1:0"), handler: ScriptedHandler(script: answer, largeBody: largeBody),
            limits: limits,
            logger: logger)
        let port = Observed<Int?>(nil)
        let (endings, end) = AsyncStream.makeStream(of: Void.self)
        async let running: Void = withThrowingTaskGroup { group in
            group.addTask { try await server.run { address in port.change { $0 = address.port } } }
            group.addTask { for await _ in endings {} }
            _ = try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        do {
            let port = try await port.wait(for: "a server that listens") { $0 }
            try await body(TestedServer(port: port, end: end))
        } catch {
            end.finish()
            throw error
        }
        end.finish()
        try await running
    }
}

struct ScriptedHandler: WebHandler {
    let script: @Sendable (WebRequest) async -> WebResponse
    var largeBody: (path: [String], bytes: Int)?

    func answer(_ request: WebRequest) async -> WebResponse { await script(request) }
    func mostBytes(inBodyTo path: [String]) -> Int { largeBody.map { $0.path == path ? $0.bytes : 0 } ?? 0 }
}

extension WebResponse {
    /// Says what was asked: method, path, query and body.
    init(echoing request: WebRequest) {
        let path =
            "/" + request.segments.joined(separator: "/") + (request.isFolder && !request.segments.isEmpty ? "/" : "")
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let body = String(decoding: request.body, as: UTF8.self)
        self.init(200, body: .bytes(Data("\(request.method) \(path) \(query) \(body)".utf8)))
    }
}
