import FoundationEssentials
import SyncCore
package import SyncSystem

/// A file of AWS profiles: `~/.aws/credentials` or `~/.aws/config`.
///
/// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files". Lines are `[section]`,
/// `name = value`, or a comment that begins with `#` or `;`; behind a value, a comment begins with ` #` or ` ;`. Indented
/// lines are settings inside a setting (`s3 =`); they concern us in `[services NAME]` only.
package struct ProfileFile: Hashable, Sendable {
    package enum Kind: Sendable {
        /// Sections are named after profiles.
        case credentials
        /// Sections are `[default]`, `[profile NAME]` and `[services NAME]`.
        case config
    }

    private enum Section {
        case profile(String)
        case services(String)
        case other
    }

    /// Settings of each profile, by their lower-case names.
    package private(set) var profiles: [String: [String: String]] = [:]
    /// Settings of each service in each section of services.
    package private(set) var services: [String: [String: [String: String]]] = [:]

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
        case .other: break
        }
    }

    private static func sectionTitle(_ line: Substring) -> String? {
        let line = withoutComment(line.drop { $0 == "\u{FEFF}" || $0.isWhitespace }).trimmingSpaces()
        guard line.hasPrefix("["), line.hasSuffix("]") else { return nil }
        return line.dropFirst().dropLast().trimmingSpaces()
    }

    /// There are sections of other kinds: `[sso-session x]`.
    private static func section(_ title: String, kind: Kind) -> Section {
        if kind == .credentials { return .profile(title) }
        if title == "default" { return .profile(title) }
        let words = title.split(whereSeparator: \.isWhitespace)
        guard words.count > 1 else { return .other }
        let name = words.dropFirst().joined(separator: " ").trimmingQuotes()
        switch words[0] {
        case "profile": return .profile(name)
        case "services": return .services(name)
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

extension ProfileFile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "ProfileFile(\(profiles.keys.sorted()), settings redacted)" }
    package var debugDescription: String { description }
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
    /// `nil` when there is no such file.
    /// - Throws: `StoreError` `.credentialsMissing` when it cannot be read.
    @Sendable static func read(_ path: String) throws(StoreError) -> String? {
        do {
            return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw StoreError(
                .credentialsMissing, operation: "read", message: "\(path) cannot be read: permission denied")
        } catch {
            throw StoreError(.credentialsMissing, operation: "read", message: "\(path) cannot be read: \(error)")
        }
    }
}

/// The two files that all AWS tools share, wherever the environment puts them. Read anew with each call.
struct SharedFiles: Sendable {
    let credentialsPath: String
    let configPath: String
    private let readFile: AWSEnvironment.FileReader

    init(variables: [String: String], readFile: @escaping AWSEnvironment.FileReader) {
        func path(_ variable: String, _ usual: String) -> String {
            let path = variables[variable] ?? usual
            guard path.hasPrefix("~/"), let home = variables["HOME"] else { return path }
            return home + path.dropFirst()
        }
        credentialsPath = path("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
        configPath = path("AWS_CONFIG_FILE", "~/.aws/config")
        self.readFile = readFile
    }

    /// Both paths, for messages.
    var description: String { "\(credentialsPath.escapingControls) and \(configPath.escapingControls)" }

    func credentials() throws(StoreError) -> ProfileFile {
        ProfileFile(try readFile(credentialsPath) ?? "", kind: .credentials)
    }

    func config() throws(StoreError) -> ProfileFile {
        ProfileFile(try readFile(configPath) ?? "", kind: .config)
    }
}

/// The key pair of a profile in the shared files, or of the program that the profile names.
package struct ProfileCredentials: CredentialProvider {
    /// Ways to credentials that need a service of their own; a program reaches each of them.
    private static let unsupported = [
        "sso_session", "sso_start_url", "sso_account_id", "login_session", "web_identity_token_file",
    ]

    private let environment: AWSEnvironment
    private let pool: BlockingPool

    package init(environment: AWSEnvironment, pool: BlockingPool) {
        self.environment = environment
        self.pool = pool
    }

    package func credentials() async throws -> CredentialAnswer {
        try await pool.runChecking { try find($0) }
    }

    private func find(_ flag: CancellationFlag) throws -> CredentialAnswer {
        let files = environment.sharedFiles
        let profile = environment.profile
        let credentials = try files.credentials()
        let config = try files.config()
        if credentials.profiles[profile] == nil, config.profiles[profile] == nil { return try absentProfile(files) }

        func setting(_ name: String) -> String? {
            credentials.setting(name, of: profile) ?? config.setting(name, of: profile)
        }
        let process = setting("credential_process")
        if process == nil, setting("role_arn") != nil { throw unsupported("role_arn", files) }
        if let keys = try keys(in: credentials, files.credentialsPath) { return .found(keys) }
        if let process {
            let program = CredentialProcess(command: process, profile: profile, environment: environment)
            return .found(try program.credentials(flag))
        }
        if let keys = try keys(in: config, files.configPath) { return .found(keys) }
        if let name = Self.unsupported.first(where: { setting($0) != nil }) { throw unsupported(name, files) }
        return .absent(reason: "\(quotedProfile) of \(files.description) has no keys")
    }

    private func keys(in file: ProfileFile, _ path: String) throws(StoreError) -> AWSCredentials? {
        let profile = environment.profile
        switch (
            file.setting("aws_access_key_id", of: profile), file.setting("aws_secret_access_key", of: profile)
        ) {
        case (nil, nil): return nil
        case (let id?, let secret?):
            return AWSCredentials(
                accessKeyID: id, secretAccessKey: secret, sessionToken: file.setting("aws_session_token", of: profile),
                source: .profile(profile, file: path))
        default:
            throw StoreError(
                .credentialsMissing,
                "\(quotedProfile) of \(path.escapingControls) has only one of aws_access_key_id and "
                    + "aws_secret_access_key; add the other")
        }
    }

    private func absentProfile(_ files: SharedFiles) throws(StoreError) -> CredentialAnswer {
        let finding = "there is no \(quotedProfile) in \(files.description)"
        guard environment.isProfileNamed else { return .absent(reason: finding) }
        let name = environment.isProfileConfigured ? "store.profile" : "AWS_PROFILE"
        throw StoreError(.credentialsMissing, "no S3 credentials: \(finding); add it or correct \(name)")
    }

    private func unsupported(_ name: String, _ files: SharedFiles) -> StoreError {
        StoreError(
            .credentialsMissing,
            "\(quotedProfile) of \(files.description) has \(name), which sync-agent does not follow; add to it: "
                + "credential_process = aws configure export-credentials --profile "
                + "\(environment.profile.escapingControls) --format process")
    }

    private var quotedProfile: String { "profile \"\(environment.profile.escapingControls)\"" }
}
