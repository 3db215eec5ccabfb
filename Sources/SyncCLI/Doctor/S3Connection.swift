import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncS3

/// The way to an S3 server: credentials, clock, region.
struct S3Connection: Sendable {
    /// Seconds. A signature is taken for 15 minutes.
    private static let tolerable: TimeInterval = 300
    private static let limit: TimeInterval = 900

    let checks: Checks
    let store: S3Store
    let now: @Sendable () -> Date

    /// - Returns: whether it makes sense to go on.
    func examine() async throws -> Bool {
        if let proxy = store.unusedProxy {
            checks.add(
                .limited(
                    "proxy", proxy,
                    instead: "requests go straight to the store; write it as http_proxy where they are to go through it"
                ))
        }
        let hasCredentials = try await lookAtCredentials()
        let configured = store.knowledge.address.region
        do {
            lookAtClock(try await store.serverTime())
            lookAtRegion(configured, found: try await store.bucketRegion())
        } catch let error as StoreError {
            checks.add(.wrong("store", error))
            return false
        }
        return hasCredentials
    }

    private func lookAtCredentials() async throws -> Bool {
        do {
            let report = try await store.credentialSource()
            let end = report.expiration.map { ", good until \($0.formatted(.iso8601))" } ?? ""
            checks.add(.ok("credentials", "\(report.accessKeyID) from \(report.source)\(end)"))
            return true
        } catch let error as StoreError {
            checks.add(.wrong("credentials", error))
            return false
        }
    }

    private func lookAtClock(_ difference: TimeInterval?) {
        let name = "clock"
        guard let difference else {
            return checks.add(
                .limited(name, "the server does not tell its time", instead: "this machine's clock is believed"))
        }
        let amount = Quantities.span(.seconds(abs(difference)))
        let detail = "this machine's clock is \(amount) \(difference < 0 ? "ahead of" : "behind") the server's"
        let remedy = "set the clock, or let NTP do it: timedatectl set-ntp true"
        if abs(difference) > Self.limit {
            checks.add(
                .wrong(
                    name, detail,
                    remedy: "\(remedy). Until then requests are corrected, where the server says why it refuses"
                ))
        } else if abs(difference) > Self.tolerable {
            checks.add(.limited(name, detail, instead: "it is within what servers take; \(remedy)"))
        } else {
            checks.add(.ok(name, abs(difference) < 2 ? "right to the second" : detail))
        }
    }

    private func lookAtRegion(_ configured: String, found: String?) {
        let name = "region"
        switch found {
        case nil: checks.add(.ok(name, "\(configured); the server does not name one"))
        case configured?: checks.add(.ok(name, configured))
        case let found?:
            checks.add(
                .limited(
                    name, "the bucket is in \(found.escapingControls), and \(configured) is set",
                    instead: "each run begins with a redirect; set store.region: \(found.escapingControls)"))
        }
    }
}

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
