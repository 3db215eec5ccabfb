import SyncCore

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
