import FoundationEssentials
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
