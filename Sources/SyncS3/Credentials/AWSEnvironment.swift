import FoundationEssentials
package import SyncCore
import SyncSystem
import SystemPackage

/// What the configuration, the process's environment and the shared files say about Amazon's way of doing things: the
/// profile, the region, the endpoint. Credentials come from a ``CredentialChain`` over it.
///
/// Order of the AWS SDKs and Tools Reference Guide ("Settings precedence", "Service-specific endpoints"). The
/// environment and the reading of files are parameters. An empty variable counts as not set.
package struct AWSEnvironment: Sendable {
    /// The text of a file; `nil` when there is none.
    package typealias FileReader = @Sendable (_ path: String) throws(StoreError) -> String?

    /// All of them, for programs that are started.
    let allVariables: [String: String]
    /// Those that are not empty.
    let variables: [String: String]
    let readFile: FileReader
    private let configuredProfile: String?

    package init(variables: [String: String], profile: String?, readFile: @escaping FileReader) {
        allVariables = variables
        self.variables = variables.filter { !$0.value.isEmpty }
        self.configuredProfile = profile
        self.readFile = readFile
    }

    package var profile: String {
        configuredProfile ?? variables["AWS_PROFILE"] ?? variables["AWS_DEFAULT_PROFILE"] ?? "default"
    }

    /// Whether the configuration names the profile: the key pair of the environment counts for nothing then.
    package var isProfileConfigured: Bool { configuredProfile != nil }

    /// Whether anybody names a profile, who will expect that there is one.
    var isProfileNamed: Bool {
        isProfileConfigured || variables["AWS_PROFILE"] != nil || variables["AWS_DEFAULT_PROFILE"] != nil
    }

    /// What is never to be repeated from words of others.
    var secrets: [String] {
        ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"]
            .compactMap { variables[$0] }
    }

    var profileFiles: ProfileFiles {
        ProfileFiles(
            credentialsPath: expandingHome(variables["AWS_SHARED_CREDENTIALS_FILE"] ?? "~/.aws/credentials"),
            configPath: expandingHome(variables["AWS_CONFIG_FILE"] ?? "~/.aws/config"), readFile: readFile)
    }

    /// A file of certificates of authorities: Amazon's variable, then the profile's `ca_bundle`, then what other programs
    /// of the machine are told by OpenSSL's variable.
    package func caBundle() throws(StoreError) -> String? {
        if let bundle = variables["AWS_CA_BUNDLE"] { return bundle }
        let bundle = try profileFiles.config().setting("ca_bundle", of: profile)
        return bundle.map(expandingHome) ?? variables["SSL_CERT_FILE"]
    }

    /// A proxy that is named and not used, in words: as curl, we take `HTTP_PROXY` for a header that a web server passes
    /// on (CVE-2016-5388).
    /// - Parameter endpoint: that of the store.
    package func unusedProxy(for endpoint: String) -> String? {
        guard endpoint.lowercased().hasPrefix("http:"), variables["HTTP_PROXY"] != nil,
            variables["http_proxy"] == nil, variables["ALL_PROXY"] == nil, variables["all_proxy"] == nil
        else { return nil }
        return "HTTP_PROXY is set, and not used: in capitals it may come from a request to a web server"
    }

    /// - Parameter configured: the region of the configuration, which comes first.
    package func region(configured: String?) throws(StoreError) -> String {
        if let region = configured ?? variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] { return region }
        return try profileFiles.config().setting("region", of: profile) ?? "us-east-1"
    }

    /// Which of Amazon's endpoints are asked (AWS SDKs and Tools Reference Guide, "Dual-stack and FIPS endpoints").
    /// - Parameters: what the configuration says, which comes first.
    package func form(dualStack: Bool?, fips: Bool?) throws(StoreError) -> EndpointForm {
        var form: EndpointForm = []
        if try isOn("use_dualstack_endpoint", configured: dualStack) { form.insert(.dualStack) }
        if try isOn("use_fips_endpoint", configured: fips) { form.insert(.fips) }
        return form
    }

    private func isOn(_ setting: String, configured: Bool?) throws(StoreError) -> Bool {
        if let configured { return configured }
        if let text = variables["AWS_\(setting.uppercased())"] { return text.lowercased() == "true" }
        return try profileFiles.config().setting(setting, of: profile)?.lowercased() == "true"
    }

    /// `nil` for Amazon's own.
    /// - Parameters:
    ///   - service: as a section `[services NAME]` calls it: `s3`, `sts`, `sso`, `sso_oidc`.
    ///   - configured: the endpoint of the configuration, which comes first.
    package func endpoint(of service: String = "s3", configured: String? = nil) throws(StoreError) -> String? {
        if let configured { return configured }
        let file = try profileFiles.config()
        let ignores =
            variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]
            ?? file.setting("ignore_configured_endpoint_urls", of: profile)
        if ignores?.lowercased() == "true" { return nil }
        let variable = "AWS_ENDPOINT_URL_\(service.uppercased())"
        if let endpoint = variables[variable] ?? variables["AWS_ENDPOINT_URL"] { return endpoint }
        return try serviceEndpoint(service, file) ?? file.setting("endpoint_url", of: profile)
    }

    private func serviceEndpoint(_ service: String, _ file: ProfileFile) throws(StoreError) -> String? {
        guard let name = file.setting("services", of: profile) else { return nil }
        guard let services = file.services[name] else {
            throw StoreError(
                .invalidRequest, operation: "configure",
                message: "profile \"\(profile.escapingControls)\" of \(profileFiles.configPath.escapingControls) has "
                    + "services = \(name.escapingControls), and there is no section "
                    + "[services \(name.escapingControls)]; add it or remove the line")
        }
        let endpoint = services[service]?["endpoint_url"]
        return endpoint?.isEmpty == false ? endpoint : nil
    }
}

extension AWSEnvironment: CustomStringConvertible, CustomReflectable {
    package var description: String { "AWSEnvironment(profile \(profile), variables redacted)" }
    package var customMirror: Mirror { Mirror(self, children: ["profile": profile]) }
}

/// The key pair of the environment's variables.
package struct EnvironmentCredentials: CredentialProvider {
    let environment: AWSEnvironment

    package func credentials() async throws -> CredentialAnswer {
        let variables = environment.variables
        switch (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]) {
        case (let id?, let secret?):
            return .found(
                AWSCredentials(
                    accessKeyID: id, secretAccessKey: secret,
                    sessionToken: variables["AWS_SESSION_TOKEN"] ?? variables["AWS_SECURITY_TOKEN"],
                    expiration: try expiration(), source: .environment))
        case (nil, nil):
            return .absent(reason: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
        case (nil, _):
            throw half("AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not")
        case (_, nil):
            throw half("AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not")
        }
    }

    private func half(_ finding: String) -> StoreError {
        StoreError(.credentialsMissing, "\(finding): set both or neither")
    }

    private func expiration() throws(StoreError) -> Date? {
        guard let text = environment.variables["AWS_CREDENTIAL_EXPIRATION"] else { return nil }
        if let date = S3Date.iso8601(text) { return date }
        throw StoreError(
            .credentialsRejected,
            "AWS_CREDENTIAL_EXPIRATION is \"\(text.escapingControls)\": write a time such as 2026-01-31T12:00:00Z")
    }
}

/// A file of AWS profiles: `~/.aws/credentials` or `~/.aws/config`.
///
/// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files". Lines are `[section]`,
/// `name = value`, or a comment that begins with `#` or `;`; behind a value, a comment begins with ` #` or ` ;`. Indented
/// lines are settings inside a setting (`s3 =`); they concern us in `[services NAME]` only.
package struct ProfileFile: Hashable, Sendable {
    package enum Kind: Sendable {
        /// Sections are named after profiles.
        case credentials
        /// Sections are `[default]`, `[profile NAME]`, `[services NAME]` and `[sso-session NAME]`.
        case config
    }

    private enum Section {
        case profile(String)
        case services(String)
        case session(String)
        case other
    }

    /// Settings of each profile, by their lower-case names.
    package private(set) var profiles: [String: [String: String]] = [:]
    /// Settings of each service in each section of services.
    package private(set) var services: [String: [String: [String: String]]] = [:]
    /// Settings of each session of single sign-on.
    package private(set) var sessions: [String: [String: String]] = [:]

    package init(_ text: String, kind: Kind) {
        var section = Section.other
        var service: String?
        for line in text.split(whereSeparator: \.isNewline) {
            guard let first = line.first(where: { $0 != "\u{FEFF}" }), first != "#", first != ";" else { continue }
            if let title = Self.sectionTitle(line) {
                section = Self.section(title, kind: kind)
                service = nil
                enter(section)
            } else if let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingSpaces().lowercased()
                let value = Self.withoutComment(line[line.index(after: equals)...]).trimmingSpaces()
                switch section {
                case .profile(let profile) where !first.isWhitespace:
                    profiles[profile, default: [:]][name] = value
                case .session(let session) where !first.isWhitespace:
                    sessions[session, default: [:]][name] = value
                case .services where !first.isWhitespace:
                    service = name
                case .services(let services):
                    if let service { self.services[services, default: [:]][service, default: [:]][name] = value }
                default: break
                }
            }
        }
    }

    /// A profile's setting; `nil` when it is empty or missing.
    package func setting(_ name: String, of profile: String) -> String? {
        let value = profiles[profile]?[name]
        return value?.isEmpty == false ? value : nil
    }

    /// A section that has no settings is there all the same.
    private mutating func enter(_ section: Section) {
        switch section {
        case .profile(let name): profiles[name] = profiles[name] ?? [:]
        case .services(let name): services[name] = services[name] ?? [:]
        case .session(let name): sessions[name] = sessions[name] ?? [:]
        case .other: break
        }
    }

    private static func sectionTitle(_ line: Substring) -> String? {
        let line = withoutComment(line.drop { $0 == "\u{FEFF}" || $0.isWhitespace }).trimmingSpaces()
        guard line.hasPrefix("["), line.hasSuffix("]") else { return nil }
        return line.dropFirst().dropLast().trimmingSpaces()
    }

    /// There may be sections of other kinds.
    private static func section(_ title: String, kind: Kind) -> Section {
        if kind == .credentials { return .profile(title) }
        if title == "default" { return .profile(title) }
        let words = title.split(whereSeparator: \.isWhitespace)
        guard words.count > 1 else { return .other }
        let name = words.dropFirst().joined(separator: " ").trimmingQuotes()
        switch words[0] {
        case "profile": return .profile(name)
        case "services": return .services(name)
        case "sso-session": return .session(name)
        default: return .other
        }
    }

    private static func withoutComment(_ text: Substring) -> Substring {
        var before: Character?
        for index in text.indices {
            if text[index] == "#" || text[index] == ";", before?.isWhitespace == true { return text[..<index] }
            before = text[index]
        }
        return text
    }
}

extension ProfileFile: CustomStringConvertible, CustomReflectable {
    package var description: String { "ProfileFile(\(profiles.keys.sorted()), settings redacted)" }
    package var customMirror: Mirror { Mirror(self, children: ["profiles": profiles.keys.sorted()]) }
}

extension StringProtocol {
    fileprivate func trimmingSpaces() -> String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    fileprivate func trimmingQuotes() -> String {
        guard count > 1, let first, first == last, first == "\"" || first == "'" else { return String(self) }
        return String(dropFirst().dropLast())
    }
}

/// Reads the shared files of the AWS tools: small, local, and read when a store is made or its keys were refused.
enum SharedFile {
    /// Bytes.
    private static let maximumSize = 1 << 20

    /// `nil` when there is no such file.
    /// - Throws: `StoreError` `.credentialsMissing` when it cannot be read, or is too long for what it should be.
    @Sendable static func read(_ path: String) throws(StoreError) -> String? {
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
            bytes = try file.closeAfter { try contents(of: file) }
        } catch let error as Errno where error.isMissing {
            return nil
        } catch {
            let reason = (error as? Errno)?.description.lowercased() ?? "\(error)"
            throw StoreError(.credentialsMissing, operation: "read", message: "\(path) cannot be read: \(reason)")
        }
        guard bytes.count <= maximumSize else {
            throw StoreError(
                .credentialsMissing, operation: "read",
                message: "\(path) is larger than \(maximumSize) bytes: it holds no settings; name the right file")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// To the end, or beyond ``maximumSize``. It may be a pipe, which tells no size.
    private static func contents(of file: FileDescriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumSize {
            let count = try piece.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}

/// The two files that all AWS tools share, wherever the environment puts them. Read anew with each call.
struct ProfileFiles: Sendable {
    let credentialsPath: String
    let configPath: String
    let readFile: AWSEnvironment.FileReader

    /// Both paths, for messages.
    var description: String { "\(credentialsPath.escapingControls) and \(configPath.escapingControls)" }

    func credentials() throws(StoreError) -> ProfileFile {
        ProfileFile(try readFile(credentialsPath) ?? "", kind: .credentials)
    }

    func config() throws(StoreError) -> ProfileFile {
        ProfileFile(try readFile(configPath) ?? "", kind: .config)
    }
}
