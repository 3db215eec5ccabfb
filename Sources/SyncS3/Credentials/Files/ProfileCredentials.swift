import SyncCore
package import SyncSystem

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
