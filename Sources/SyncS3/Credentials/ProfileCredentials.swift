import SyncCore
import SyncSystem
import SystemPackage

/// What a profile of the shared files leads to: a key pair, a program, a role, or single sign-on.
///
/// In the order of botocore (`credentials.py`): a role comes before keys of the same profile, except for a profile that
/// is another one's source.
package struct ProfileCredentials: CredentialProvider {
    let services: CredentialServices

    package func credentials() async throws -> CredentialAnswer {
        let environment = services.environment
        let profiles = try await services.pool.run { try Profiles(environment.profileFiles) }
        let name = environment.profile
        guard profiles.contains(name) else { return try absentProfile(profiles) }
        if let found = try await credentials(of: name, profiles, after: []) { return .found(found) }
        return .absent(reason: "\(profiles.place(of: name)) has no keys")
    }

    /// - Parameter visited: the profiles whose source this one is, the first one first.
    /// - Returns: `nil` for a profile that says nothing of credentials.
    private func credentials(
        of name: String, _ profiles: Profiles, after visited: [String]
    ) async throws -> AWSCredentials? {
        if visited.isEmpty || !profiles.hasKeys(name) {
            if let arn = profiles.setting("role_arn", of: name) {
                return try await roleCredentials(arn, of: name, profiles, after: visited)
            }
            if profiles.setting("web_identity_token_file", of: name) != nil {
                throw error("\(profiles.place(of: name)) has web_identity_token_file and no role_arn; add it")
            }
            let signOn = SignOnCredentials(services: services, profile: name, profiles: profiles)
            if signOn.isSetUp { return try await signOn.credentials() }
        }
        if let keys = try keys(of: name, in: profiles.credentials, profiles.files.credentialsPath) { return keys }
        if let process = profiles.setting("credential_process", of: name) {
            let program = CredentialProcess(command: process, profile: name, environment: services.environment)
            return try await services.pool.runChecking { try program.credentials($0) }
        }
        if let keys = try keys(of: name, in: profiles.config, profiles.files.configPath) { return keys }
        if profiles.setting("login_session", of: name) != nil {
            throw error(
                "\(profiles.place(of: name)) has login_session, which sync-agent does not follow; add to it: "
                    + "credential_process = aws configure export-credentials --profile "
                    + "\(name.escapingControls) --format process")
        }
        return nil
    }

    private func keys(of profile: String, in file: ProfileFile, _ path: String) throws(StoreError) -> AWSCredentials? {
        switch (file.setting("aws_access_key_id", of: profile), file.setting("aws_secret_access_key", of: profile)) {
        case (nil, nil): return nil
        case (let id?, let secret?):
            return AWSCredentials(
                accessKeyID: id, secretAccessKey: secret, sessionToken: file.setting("aws_session_token", of: profile),
                source: .profile(profile, file: path))
        default:
            throw error(
                "\(Profiles.quoted(profile)) of \(path.escapingControls) has only one of aws_access_key_id and "
                    + "aws_secret_access_key; add the other")
        }
    }

    private func absentProfile(_ profiles: Profiles) throws(StoreError) -> CredentialAnswer {
        let environment = services.environment
        let finding = "there is no \(Profiles.quoted(environment.profile)) in \(profiles.files.description)"
        guard environment.isProfileNamed else { return .absent(reason: finding) }
        let name = environment.isProfileConfigured ? "store.profile" : "AWS_PROFILE"
        throw error("no S3 credentials: \(finding); add it or correct \(name)")
    }

    private func error(_ message: String) -> StoreError { StoreError(.credentialsMissing, message) }
}

/// Roles of profiles (AWS SDKs and Tools Reference Guide, "Assume role credential provider").
extension ProfileCredentials {
    private func roleCredentials(
        _ arn: String, of name: String, _ profiles: Profiles, after visited: [String]
    ) async throws -> AWSCredentials {
        func setting(_ key: String) -> String? { profiles.setting(key, of: name) }
        let place = profiles.place(of: name)
        let tokenFile = setting("web_identity_token_file")
        let role = try RoleRequest(
            arn: arn, sessionName: setting("role_session_name"), duration: setting("duration_seconds"),
            externalID: setting("external_id"),
            source: tokenFile == nil ? .role(arn, profile: name) : .webIdentity(role: arn), in: place,
            now: services.now())
        if let tokenFile {
            return try await services.assume(role, forTokenOf: services.environment.expandingHome(tokenFile))
        }
        if setting("mfa_serial") != nil {
            throw error(
                "\(place) has mfa_serial, and nobody is there to type the code; use single sign-on (aws configure sso) or a "
                    + "role without it")
        }
        switch (setting("source_profile"), setting("credential_source")) {
        case (let source?, nil):
            let credentials = try await sourceCredentials(source, of: name, profiles, after: visited)
            return try await services.assume(role, with: credentials)
        case (nil, let source?):
            return try await services.assume(role, with: try await machineCredentials(source, place))
        case (nil, nil):
            throw error("\(place) has role_arn, and neither source_profile nor credential_source; add one of them")
        case (_?, _?):
            throw error("\(place) has both source_profile and credential_source; remove one of them")
        }
    }

    private func sourceCredentials(
        _ source: String, of name: String, _ profiles: Profiles, after visited: [String]
    ) async throws -> AWSCredentials {
        let path = visited + [name]
        guard profiles.contains(source) else {
            throw error(
                "\(profiles.place(of: name)) has source_profile = \(source.escapingControls), and there is no such profile; "
                    + "add it or correct the line")
        }
        // A profile may be its own source, with its keys.
        guard !path.contains(source) || (source == name && profiles.hasKeys(name)) else {
            throw error(
                "the source_profile lines of \(profiles.files.description) go in a circle: "
                    + (path + [source]).map(\.escapingControls).joined(separator: " → ")
                    + "; let one of them have keys or a credential_source")
        }
        guard let credentials = try await credentials(of: source, profiles, after: path) else {
            throw error("\(profiles.place(of: source)), the source_profile of \(Profiles.quoted(name)), has no keys")
        }
        return credentials
    }

    /// - Parameter source: as the setting `credential_source` has it.
    private func machineCredentials(_ source: String, _ place: String) async throws -> AWSCredentials {
        let provider: any CredentialProvider
        switch source {
        case "Environment": provider = services.variables
        case "Ec2InstanceMetadata": provider = services.instance
        case "EcsContainer": provider = services.container
        default:
            throw error(
                "\(place) has credential_source = \(source.escapingControls); write Environment, Ec2InstanceMetadata or "
                    + "EcsContainer")
        }
        switch try await provider.credentials() {
        case .found(let credentials): return credentials
        case .absent(let reason): throw error("\(place) has credential_source = \(source), and \(reason)")
        }
    }
}

/// Both shared files, as they were read at one moment.
struct Profiles: Sendable {
    let files: ProfileFiles
    let credentials: ProfileFile
    let config: ProfileFile

    /// Blocks.
    init(_ files: ProfileFiles) throws(StoreError) {
        self.files = files
        credentials = try files.credentials()
        config = try files.config()
    }

    func contains(_ profile: String) -> Bool {
        credentials.profiles[profile] != nil || config.profiles[profile] != nil
    }

    /// Of either file; that of the credentials comes first.
    func setting(_ name: String, of profile: String) -> String? {
        credentials.setting(name, of: profile) ?? config.setting(name, of: profile)
    }

    /// Whether a profile has a key pair of its own, or half of one.
    func hasKeys(_ profile: String) -> Bool {
        setting("aws_access_key_id", of: profile) != nil || setting("aws_secret_access_key", of: profile) != nil
    }

    /// For messages.
    func place(of profile: String) -> String { "\(Self.quoted(profile)) of \(files.description)" }

    static func quoted(_ profile: String) -> String { "profile \"\(profile.escapingControls)\"" }
}

extension AWSEnvironment {
    /// A path of a shared file, where `~/` is the home folder.
    func expandingHome(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = variables["HOME"] else { return path }
        return home + path.dropFirst()
    }
}

/// The program that a profile names in `credential_process`. No shell runs it.
///
/// Source: AWS SDKs and Tools Reference Guide, "Process credential provider".
struct CredentialProcess: Sendable {
    /// Such programs ask services on the network.
    static let timeout = Duration.seconds(60)
    /// Bytes.
    static let outputLimit = 64 << 10

    let command: String
    let profile: String
    let environment: AWSEnvironment

    /// Blocks until the program has ended.
    /// - Throws: `StoreError` `.credentialsRejected` that names the profile and says what the program did. Of the command
    ///   it tells the first word only: people put secrets into arguments. Of what the program has written it tells nothing:
    ///   a program whose work is secrets may write one in any shape, and what goes into an error goes into logs.
    func credentials(_ flag: CancellationFlag) throws -> AWSCredentials {
        let words: [String]
        do {
            words = try CommandWords(command).words
        } catch {
            throw failure("cannot be split into words: \(error.rawValue)")
        }
        guard let program = words.first else { throw failure("names no program") }
        // `PASSWORD=… tool` is how a shell is told of one.
        let name = program.contains("=") ? "a name that is not shown here" : program.escapingControls
        let child = ChildProcess(
            words: words, environment: environment.allVariables, timeout: Self.timeout, outputLimit: Self.outputLimit)
        do {
            let ending = try child.run(flag)
            let reason =
                ending.errors.isEmpty
                ? "; run it by hand to see why"
                : "; run it by hand to see why: what it wrote is not repeated here, it may hold secrets"
            switch ending.status {
            case .exited(0): return try credentials(printed: ending.output, by: name)
            case .exited(let code): throw failure("(\(name)) exited with \(code)\(reason)")
            case .signalled(let signal): throw failure("(\(name)) was ended by signal \(signal)\(reason)")
            }
        } catch let error as ChildProcess.Failure {
            switch error {
            case .notStarted(let error): throw failure("(\(name)) cannot be started: \(error)")
            case .tooSlow: throw failure("(\(name)) did not end within \(Self.timeout.components.seconds) seconds")
            case .tooMuch: throw failure("(\(name)) printed more than \(Self.outputLimit) bytes")
            }
        }
    }

    private func credentials(printed output: [UInt8], by name: String) throws -> AWSCredentials {
        do {
            let reply = try CredentialReply(output)
            guard reply.version == 1 else {
                let version = reply.version.map { "Version \($0)" } ?? "no Version"
                throw failure("(\(name)) printed credentials of \(version); Version 1 is known")
            }
            return try reply.credentials(from: .process(profile: profile))
        } catch let error as CredentialReply.Invalid {
            throw failure("(\(name)): what it printed \(error.reason)")
        }
    }

    private func failure(_ what: String) -> StoreError {
        StoreError(.credentialsRejected, "\(CredentialSource.process(profile: profile)) \(what)")
    }
}

/// A command line as its words, split by the rules of a shell's quotes and nothing else of a shell: no variables, no
/// globs, no comments, no operators.
///
/// As Python's `shlex.split` does, and so botocore with a `credential_process`: single quotes keep all, double quotes let
/// `\` escape `"` and `\`, elsewhere `\` escapes any character.
package struct CommandWords: Hashable, Sendable {
    package enum Invalid: String, Error, Hashable, Sendable {
        case openQuote = "a quote is not closed"
        case openEscape = "it ends in a backslash"
    }

    private enum Quote {
        case none, single, double
    }

    package private(set) var words: [String] = []

    package init(_ line: String) throws(Invalid) {
        var word: String?
        var quote = Quote.none
        var rest = line.unicodeScalars.makeIterator()
        while let scalar = rest.next() {
            switch (quote, scalar) {
            case (.none, " "), (.none, "\t"), (.none, "\n"), (.none, "\r"):
                if let word { words.append(word) }
                word = nil
            case (.none, "'"):
                quote = .single
                word = word ?? ""
            case (.none, "\""):
                quote = .double
                word = word ?? ""
            case (.single, "'"), (.double, "\""):
                quote = .none
            case (.none, "\\"), (.double, "\\"):
                guard let escaped = rest.next() else { throw .openEscape }
                if quote == .double, escaped != "\"", escaped != "\\" { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(escaped)
            default:
                word = (word ?? "") + String(scalar)
            }
        }
        guard quote == .none else { throw .openQuote }
        if let word { words.append(word) }
    }
}
