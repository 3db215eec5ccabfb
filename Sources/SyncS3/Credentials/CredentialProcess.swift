import SyncCore
import SyncSystem
import SystemPackage

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
