import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncS3
import SyncSystem
import SyncTestSupport
import SystemPackage

/// A share on a web server, as its sharer and as somebody with bad intentions can make it, and a folder for its mirror.
final class SharedTrip: Sendable {
    static let id = "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"
    static let folder = "/shares/\(id)/"
    static let now = Date(timeIntervalSince1970: 1_767_225_600)

    struct Photo: Sendable {
        var index: Int
        var bytes: [UInt8]
        var takenAt: String? = "2024-06-15T09:30:00Z"
    }

    let tree: TemporaryTree
    let server: WebServer
    /// By target.
    private let answers: Lock<[String: WebServer.Answer]>
    /// Runs before each answer.
    private let hook: Lock<(@Sendable (WebServer.Request) -> Void)?>
    private let transport: CurlTransport

    private init(photos: Int) throws {
        let answers = Lock<[String: WebServer.Answer]>([:])
        let hook = Lock<(@Sendable (WebServer.Request) -> Void)?>(nil)
        tree = try TemporaryTree()
        transport = try CurlTransport()
        server = try WebServer { request in
            hook.withLock { $0 }?(request)
            return answers.withLock { $0[request.target] } ?? .missing
        }
        self.answers = answers
        self.hook = hook
        try tree.makeFolder("home")
        try tree.write("precious", to: "outside/precious.jpg")
        publish((0..<photos).map { Photo(index: $0, bytes: .noise(2_000 + $0, seed: UInt64($0))) })
    }

    /// A share of so many photos, served until the body returns.
    static func run(photos: Int = 4, _ body: (SharedTrip) async throws -> Void) async throws {
        let trip = try SharedTrip(photos: photos)
        do {
            try await body(trip)
            await trip.end()
        } catch {
            await trip.end()
            throw error
        }
    }

    private func end() async {
        beforeAnswer(nil)
        await transport.close()
        await server.stop()
    }

    // MARK: The sharer

    /// Puts photos, manifest and page there, in place of what was there.
    /// - Parameter changes: in the text of the manifest.
    func publish(_ photos: [Photo], changes: [String: String] = [:]) {
        answers.withLock { $0 = [:] }
        for photo in photos { self[Self.path(photo.index)] = WebServer.Answer(photo.bytes) }
        var text = manifest(photos)
        for (old, new) in changes { text = text.replacing(old, with: new) }
        self[Self.folder + "vacation.json"] = WebServer.Answer(text)
        self[Self.folder + "index.html"] = WebServer.Answer(
            """
            <!doctype html><title>Paris</title>
            <link rel="alternate" type="application/vnd.sync-agent.share+json" href="vacation.json">
            """)
    }

    func photos(_ count: Int) -> [Photo] {
        (0..<count).map { Photo(index: $0, bytes: .noise(2_000 + $0, seed: UInt64($0))) }
    }

    func manifest(_ photos: [Photo]) -> String {
        let list = photos.map { photo in
            """
            {"orderIndex":\(photo.index),"width":4,"height":3,"size":\(photo.bytes.count),
            "sha256":"\(SHA256Digest(of: photo.bytes))","takenAt":\(photo.takenAt.map { "\"\($0)\"" } ?? "null")}
            """
        }
        return """
            {"version":1,"shareId":"\(Self.id)","locationName":"Paris","startDate":"2024-06-15","endDate":"2024-06-22",
            "photoCount":\(photos.count),"sharedBy":"Ana","expiresAt":"2026-02-01T00:00:00Z",
            "updatedAt":"2025-12-01T00:00:00Z","photos":[\(list.joined(separator: ","))]}
            """
    }

    static func path(_ index: Int) -> String { "\(folder)\(id)_\(index).jpg" }

    /// What is answered under a path; `nil` for 404.
    subscript(path: String) -> WebServer.Answer? {
        get { answers.withLock { $0[path] } }
        set { answers.withLock { $0[path] = newValue } }
    }

    func beforeAnswer(_ body: (@Sendable (WebServer.Request) -> Void)?) {
        hook.withLock { $0 = body }
    }

    // MARK: The recipient

    var destination: FilePath { tree.path("home/paris") }

    func link(_ name: String = "index.html") -> String { server.origin + Self.folder + name }

    func mirror(
        _ link: String? = nil, _ options: ShareMirror.Options = ShareMirror.Options(), attempts: Int = 2,
        time: TimeSource? = nil, calls: DownloadCalls = DownloadCalls()
    ) throws -> ShareMirror {
        guard case .link(let link) = try ShareReference(link ?? self.link()) else { throw Errno.invalidArgument }
        return ShareMirror(
            LinkedShareSource(link, transport: transport), asked: ShareReference.link(link).shareID, to: destination,
            options: options, pool: BlockingPool(name: "mirror", threads: 3),
            policy: RetryPolicy(maximumAttempts: attempts),
            time: time
                ?? TimeSource(
                    now: { Self.now }, monotonic: { .zero }, sleep: { _ in try Task.checkCancellation() },
                    random: { 0 }), calls: calls)
    }

    /// Requests for photos so far.
    var photoRequests: [String] { server.requests.map(\.target).filter { $0.hasSuffix(".jpg") } }

    /// All files that are not below the mirror's folder.
    func outside() throws -> [String: [UInt8]] {
        try tree.files().filter { !$0.hasPrefix("home/paris/") }.reduce(into: [:]) { $0[$1] = try tree.read($1) }
    }

    /// The names in the mirror's folder.
    func names() throws -> [String] { try tree.files(below: "home/paris") }

    func read(_ name: String) throws -> [UInt8] { try tree.read("home/paris/\(name)") }
}
