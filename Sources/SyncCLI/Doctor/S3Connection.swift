import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncS3

/// The way to an S3 server: credentials, clock, region.
struct S3Connection: Sendable {
    /// Seconds. A signature is taken for 15 minutes.
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
        let hasCredentials = try await checkCredentials()
        let configured = store.knowledge.address.region
        do {
            checks.add(Self.clock(try await store.serverTime()))
            checks.add(Self.region(configured, found: try await store.bucketRegion()))
        } catch let error as StoreError {
            checks.add(.wrong("store", error))
            return false
        }
        return hasCredentials
    }

    private func checkCredentials() async throws -> Bool {
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

    private static func clock(_ difference: TimeInterval?) -> Finding {
        let name = "clock"
        guard let difference else {
            return .limited(name, "the server does not tell its time", instead: "this machine's clock is believed")
        }
        let amount = Quantities.span(.seconds(abs(difference)))
        let detail = "this machine's clock is \(amount) \(difference < 0 ? "ahead of" : "behind") the server's"
        let remedy = "set the clock, or let NTP do it: timedatectl set-ntp true"
        if abs(difference) > limit {
            return .wrong(
                name, detail,
                remedy: "\(remedy). Until then requests are corrected, where the server says why it refuses")
        }
        if abs(difference) > ClockTolerance.toTell {
            return .limited(name, detail, instead: "it is within what servers take; \(remedy)")
        }
        return .ok(name, abs(difference) < 2 ? "right to the second" : detail)
    }

    private static func region(_ configured: String, found: String?) -> Finding {
        let name = "region"
        return switch found {
        case nil: .ok(name, "\(configured); the server does not name one")
        case configured?: .ok(name, configured)
        case let found?:
            .limited(
                name, "the bucket is in \(found.escapingControls), and \(configured) is set",
                instead: "each run begins with a redirect; set store.region: \(found.escapingControls)")
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

/// What an S3 server makes of headers, digests and signatures, in words.
struct S3Steps: Sendable {
    let checks: Checks
    let store: S3Store
    let scratch: ScratchFolder

    private var examiner: S3Examiner { S3Examiner(store) }

    func run(_ probe: StoreChecks) async throws {
        try await add("conditional-puts") { try await conditionalPuts(probe, $0) }
        try await add("integrity", integrity)
        try await add("checksums", checksums)
        try await add("access", access)
        checks.add(try await deleteMany(probe))
        checks.add(try await probe.links { [examiner] in try await examiner.fetch($0) })
        try await add("large-files", largeFiles)
    }

    private func add(_ name: String, _ body: (String) async throws -> Finding) async throws {
        do {
            checks.add(try await body(name))
        } catch let error as StoreError {
            checks.add(.wrong(name, error))
        }
    }

    private func conditionalPuts(_ probe: StoreChecks, _ name: String) async throws -> Finding {
        let kept = try await probe.conditionalPuts()
        let configured = store.knowledge.capabilities.configuredCondition
        // Where the configuration says that the server is to be relied on, what it does tells more than what became of it.
        guard kept.state == .ok || configured == true else { return kept }
        let key = try await object("condition-2.txt")
        return Self.finding(name, try await examiner.condition(over: key), configured: configured)
    }

    /// - Parameter configured: `store.conditional_writes`; `nil` for `auto`.
    static func finding(_ name: String, _ found: S3Examiner.Condition, configured: Bool?) -> Finding {
        let honours = "the server honours If-None-Match"
        let heads = "a HEAD goes before each put"
        let words =
            switch found {
            case .honoured: honours
            case .ignored: "the server does not look at If-None-Match, and overwrites"
            case .refused(let words): "the server refuses If-None-Match (\(words))"
            }
        return switch (found, configured) {
        case (.honoured, false?):
            .limited(
                name, "\(honours), and store.conditional_writes is off",
                instead: "\(heads); without store.conditional_writes the server sees to it by itself")
        case (.honoured, _): .ok(name, "\(honours): what is stored is never replaced by accident")
        case (_, true?):
            .wrong(
                name, "\(words), and store.conditional_writes is on",
                remedy: "take store.conditional_writes out, so that \(heads)",
                cause: CommandFailure.configuration(words))
        case (_, false?): .limited(name, words, instead: "\(heads), as store.conditional_writes says")
        case (_, nil): .limited(name, words, instead: heads)
        }
    }

    private func integrity(_ name: String) async throws -> Finding {
        let found = try await examiner.integrity(at: try scratch.key("integrity.txt"))
        let told = found.tellsMD5 ? "the MD5 in its answer is compared" : "sizes are compared"
        return switch (found.checksMD5, found.checksSignedBytes) {
        case (true, true): .ok(name, "damaged bytes are refused, by their MD5 and by the signed SHA-256")
        case (true, false):
            .limited(name, "the server compares the MD5, not the signed SHA-256", instead: "the MD5 goes with each put")
        case (false, true):
            .limited(name, "the server compares the signed SHA-256, not the MD5", instead: "each put is signed")
        case (false, false):
            .limited(name, "the server compares no digest, and stores damaged bytes", instead: told)
        }
    }

    private func checksums(_ name: String) async throws -> Finding {
        let answer = try await examiner.checksum(
            at: try scratch.key("checksum.txt"), wrongAt: try scratch.key("checksum-wrong.txt"))
        let instead = "Content-MD5 and the signed SHA-256 go with each put"
        return switch answer {
        case .proven: .ok(name, "the server computes SHA-256 by itself, and tells it")
        case .unproven:
            .limited(name, "the server takes x-amz-checksum-sha256, and does not check or tell it", instead: instead)
        case .refused(let words):
            .limited(name, "the server refuses x-amz-checksum-sha256 (\(words))", instead: instead)
        }
    }

    private func access(_ name: String) async throws -> Finding {
        let found = try await examiner.access(to: try await object("access.txt"))
        if found.anyone {
            return .limited(
                name, "whoever reaches the server can read what is stored, without credentials",
                instead: "nothing keeps others out; make the bucket private, or the server reachable for you alone")
        }
        if found.anySignature {
            return .limited(
                name, "the server does not verify signatures: any secret key is as good as yours",
                instead: "nothing keeps others out; see that only you can reach the server")
        }
        return .ok(name, "only with the right signature")
    }

    private func deleteMany(_ probe: StoreChecks) async throws -> Finding {
        let finding = try await probe.deleteMany()
        guard finding.state == .ok, !store.knowledge.capabilities.deletesMany else { return finding }
        return .limited(
            finding.name, "the server has no request for many objects", instead: "objects are deleted one by one")
    }

    private func largeFiles(_ name: String) async throws -> Finding {
        do {
            try await examiner.uploadInParts(at: try scratch.key("parts.txt"))
            return .ok(name, "uploads in parts are begun and taken back")
        } catch let error as StoreError where error.code == .unsupported {
            return .limited(
                name, "the server has no uploads in parts (\(error.detail ?? ""))",
                instead: "files of 64 MiB and more are not stored")
        }
    }

    private func object(_ name: String) async throws -> ObjectKey {
        let key = try scratch.key(name)
        _ = try await store.put(S3Examiner.sample, at: key, attributes: S3Examiner.attributes, condition: .ifAbsent)
        return key
    }

    /// Whether new photos come into the class of store.storage_class.
    /// - Parameter seen: where the server put them instead; `nil` where it did not put any.
    static func finding(
        _ name: String, _ wanted: StorageClass, isTaken: Bool, ignoredFor seen: StorageClass?
    ) -> Finding {
        let remedy = "take store.storage_class out, or name a class that the server has"
        if isTaken { return .ok(name, "new photos are stored in \(wanted), as store.storage_class asks") }
        if let seen {
            return .limited(
                name, "new photos are stored in \(seen): the server takes no notice of store.storage_class: \(wanted)",
                instead: remedy)
        }
        return .wrong(
            name, "the server does not have \(wanted), which store.storage_class asks for: no photo can be stored",
            remedy: remedy)
    }
}
