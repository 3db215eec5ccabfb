import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage

/// Serves the objects of an embedded store on 127.0.0.1 to everybody, as any web server does that is pointed at the
/// store's `objects/`: it knows files, and nothing of records.
final class WebOrigin: Sendable {
    private let server: WebServer
    private let root: Lock<FilePath?>
    private let change: Lock<(old: String, new: String)?>

    init() throws {
        let root = Lock<FilePath?>(nil)
        let change = Lock<(old: String, new: String)?>(nil)
        server = try WebServer { request in
            let name = request.target.prefix { $0 != "?" }.dropFirst()
            guard let folder = root.withLock({ $0 }), let path = folder.lexicallyResolving(FilePath(String(name))),
                var bytes = try? path.bytes
            else { return .missing }
            if path.extension == "html", let (old, new) = change.withLock({ $0 }) {
                bytes = bytes.replacing(Array(old.utf8), with: Array(new.utf8))
            }
            return WebServer.Answer(bytes, headers: ["Content-Type": Self.type(of: path)])
        }
        self.root = root
        self.change = change
    }

    /// Serves this store from now on.
    func serve(_ store: StoreFolder) {
        root.withLock { $0 = store.root.appending("objects") }
    }

    /// Serves pages with one text in place of another from now on.
    func replace(_ old: String, with new: String) {
        change.withLock { $0 = (old, new) }
    }

    var address: String { server.origin }

    /// What was asked for so far: the paths.
    var requests: [String] { server.requests.map(\.target) }

    func forgetRequests() { server.forgetRequests() }

    func stop() async { await server.stop() }

    private static func type(of path: FilePath) -> String {
        switch path.extension {
        case "html": "text/html; charset=utf-8"
        case "jpg": "image/jpeg"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }
}
