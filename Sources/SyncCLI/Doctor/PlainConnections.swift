import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine

/// Addresses of the configuration and the environment at which something leaves this machine without encryption.
struct PlainConnections {
    /// In plain words, without secrets.
    let places: [String]

    init(_ settings: Settings, environment: [String: String]) {
        var places: [String] = []
        if case .s3(let store) = settings.store, let endpoint = store.endpoint.flatMap(Self.plain) {
            places.append("photos and requests go to \(endpoint) (store.endpoint)")
        }
        if let base = settings.share.publicBaseURL.flatMap(Self.plain) {
            places.append("shares are read from \(base) (share.public_base_url)")
        }
        if let webhook = settings.notify.webhook.flatMap({ Self.plain($0.revealed) }) {
            places.append("notices go to \(webhook) (notify.webhook)")
        }
        for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"] {
            guard let value = environment[name], !value.isEmpty else { continue }
            // curl takes a proxy without a scheme for one by http.
            let address = value.contains("://") ? value : "http://\(value)"
            guard address.contains("@"), let origin = Self.origin(address), origin.isPlain else { continue }
            places.append("the password of the proxy goes to \(origin.origin) (\(name))")
        }
        self.places = places
    }

    var finding: Finding? {
        guard !places.isEmpty else { return nil }
        return .limited(
            "encryption", "not encrypted on its way: \(places.joined(separator: "; "))",
            instead: "use https; in a network of your own it works as it is")
    }

    /// The origin of an address at which whoever stands between can read along.
    private static func plain(_ url: URL) -> String? {
        origin(url.absoluteString).flatMap { $0.isPlain ? $0.origin : nil }
    }

    private static func origin(_ text: String) -> WebLink? {
        WebLink(WebLink.withoutSecrets(text).replacing("***@", with: ""))
    }
}
