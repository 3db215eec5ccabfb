package import SyncCore

/// Where keys, region and endpoint come from: the configuration, the process's environment, the shared files.
///
/// Order of the AWS SDKs and Tools Reference Guide ("Settings precedence", "Service-specific endpoints"). The
/// environment and the reading of files are parameters. An empty variable counts as not set.
package struct AWSEnvironment: Sendable {
    /// The text of a file; `nil` when there is none.
    package typealias FileReader = @Sendable (_ path: String) throws(StoreError) -> String?

    private let variables: [String: String]
    /// The profile of the configuration; naming one there makes the variables of the environment count for nothing.
    private let configuredProfile: String?
    private let readFile: FileReader

    package init(variables: [String: String], profile: String?, readFile: @escaping FileReader) {
        self.variables = variables.filter { !$0.value.isEmpty }
        self.configuredProfile = profile
        self.readFile = readFile
    }

    package var profile: String {
        configuredProfile ?? variables["AWS_PROFILE"] ?? variables["AWS_DEFAULT_PROFILE"] ?? "default"
    }

    package var caBundle: String? { variables["AWS_CA_BUNDLE"] }

    /// - Parameter configured: the region of the configuration, which comes first.
    package func region(configured: String?) throws(StoreError) -> String {
        if let region = configured ?? variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] { return region }
        return try setting("region") ?? "us-east-1"
    }

    /// `nil` for Amazon's own.
    /// - Parameter configured: the endpoint of the configuration, which comes first.
    package func endpoint(configured: String?) throws(StoreError) -> String? {
        if let configured { return configured }
        if variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() == "true" { return nil }
        if let endpoint = variables["AWS_ENDPOINT_URL_S3"] ?? variables["AWS_ENDPOINT_URL"] { return endpoint }
        return try setting("endpoint_url")
    }

    /// The key pair that signs requests, read anew each time.
    /// - Throws: `StoreError` `.credentialsMissing` that says where it looked and what to set.
    package func credentials(for operation: String) throws(StoreError) -> AWSCredentials {
        if configuredProfile == nil, let credentials = try credentialsOfVariables(operation) { return credentials }
        for file in [credentialsFile, configFile] {
            let kind: ProfileFile.Kind = file == credentialsFile ? .credentials : .config
            guard let settings = try profiles(in: file, kind: kind)[profile] else { continue }
            let id = settings["aws_access_key_id"] ?? ""
            let secret = settings["aws_secret_access_key"] ?? ""
            if id.isEmpty, secret.isEmpty { continue }
            guard !id.isEmpty, !secret.isEmpty else {
                throw missing(
                    operation,
                    "profile \"\(profile)\" of \(file) has only one of aws_access_key_id and aws_secret_access_key")
            }
            return AWSCredentials(
                accessKeyID: id, secretAccessKey: secret, sessionToken: settings["aws_session_token"])
        }
        let variables = configuredProfile == nil ? "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and " : ""
        throw missing(
            operation,
            "no S3 credentials: looked at \(variables)profile \"\(profile)\" of \(credentialsFile) and \(configFile); "
                + "set the two variables, or add the profile")
    }

    private func credentialsOfVariables(_ operation: String) throws(StoreError) -> AWSCredentials? {
        switch (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]) {
        case (let id?, let secret?):
            return AWSCredentials(
                accessKeyID: id, secretAccessKey: secret, sessionToken: variables["AWS_SESSION_TOKEN"])
        case (nil, nil):
            return nil
        case (nil, _):
            throw missing(operation, "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not: set both or neither")
        case (_, nil):
            throw missing(operation, "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not: set both or neither")
        }
    }

    private func missing(_ operation: String, _ message: String) -> StoreError {
        StoreError(.credentialsMissing, operation: operation, message: message)
    }

    /// A setting of the profile; the shared config file is the place for it, as with the AWS tools.
    private func setting(_ name: String) throws(StoreError) -> String? {
        let value = try profiles(in: configFile, kind: .config)[profile]?[name]
        return value?.isEmpty == false ? value : nil
    }

    private var credentialsFile: String {
        variables["AWS_SHARED_CREDENTIALS_FILE"].map(expandingTilde) ?? expandingTilde("~/.aws/credentials")
    }

    private var configFile: String {
        variables["AWS_CONFIG_FILE"].map(expandingTilde) ?? expandingTilde("~/.aws/config")
    }

    private func expandingTilde(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = variables["HOME"] else { return path }
        return home + path.dropFirst()
    }

    private func profiles(in file: String, kind: ProfileFile.Kind) throws(StoreError) -> [String: [String: String]] {
        guard let text = try readFile(file) else { return [:] }
        return ProfileFile(text, kind: kind).profiles
    }
}
