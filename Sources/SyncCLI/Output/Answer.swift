import ArgumentParser
import FoundationEssentials
import SyncCore
import SystemPackage

/// What a command tells: fields for programs, lines for people, and how well it went.
protocol Report: Encodable {
    var status: ExitStatus { get }
    func lines(on terminal: Terminal) -> [String]
}

extension Report {
    var status: ExitStatus { .done }
}

/// What a command ends with: its words on standard output, as JSON or for people, and then its exit code.
struct Answer {
    private let json: () throws -> String?
    private let lines: (Terminal) -> [String]
    private let end: (any Error)?

    /// - Parameter failure: is told when the answer is, and has the exit code.
    init(_ report: some Report, failure: (any Error)? = nil) {
        self.init(report, status: report.status, failure: failure, lines: report.lines)
    }

    init(
        _ fields: some Encodable, status: ExitStatus = .done, failure: (any Error)? = nil,
        lines: @escaping (Terminal) -> [String]
    ) {
        json = { try JSONOutput.text(fields) }
        self.lines = lines
        end = failure ?? status.failure
    }

    /// One line for a program that reads it by its exit code.
    init(line: String, code: ExitCode) {
        json = { nil }
        lines = { _ in [line] }
        end = code == .success ? nil : code
    }

    /// Of a command that has no JSON, or has said what it had to say.
    init(_ status: ExitStatus = .done, lines: [String] = []) {
        json = { nil }
        self.lines = { _ in lines }
        end = status.failure
    }

    fileprivate func give(_ console: Console) throws {
        if let text = console.isJSON ? try json() : nil {
            console.output.writeLine(text)
        } else {
            console.output.write(lines(console.output).map { $0 + "\n" }.joined())
        }
        if let end { throw end }
    }
}

extension ExitStatus {
    fileprivate var failure: (any Error)? { self == .done ? nil : code }
}

/// Where a command writes. The answer goes to standard output; with `--json`, what is for people goes to standard error.
struct Console: Sendable {
    let environment: [String: String]
    let isJSON: Bool
    let output: Terminal
    let errors: Terminal

    init(environment: [String: String] = ProcessEnvironment.current, isJSON: Bool = false) {
        self.environment = environment
        self.isJSON = isJSON
        output = .standardOutput(environment)
        errors = .standardError(environment)
    }

    /// Where people are shown what comes before the answer, and are asked.
    var people: Terminal { isJSON ? errors : output }
    /// Whether nobody is there to read that.
    var isSilent: Bool { isJSON && !errors.isInteractive }

    /// Runs a command's body and gives its answer. What it throws becomes one message on standard error and an exit code.
    static func run(json: Bool = false, _ body: (Console) async throws -> Answer) async throws {
        let console = Console(isJSON: json)
        do {
            try await body(console).give(console)
        } catch let exit as ExitCode {
            throw exit
        } catch is CancellationError {
            throw ExitStatus.failed.code
        } catch {
            console.errors.writeLine(console.errors.styled("sync-agent: ", .bold) + "\(error)".escapingControlsInLines)
            throw ExitStatus(error).code
        }
    }
}

/// The one form of our JSON: camelCase fields, sorted, ISO 8601 in UTC, slashes as they are, and nothing in it that
/// a terminal would act on.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        let text = String(decoding: try ReadableJSON.json(value), as: UTF8.self)
        // The encoder escapes what JSON demands. C1 controls and what is not seen are left to us: they stand inside of
        // strings only, and mean the same escaped (RFC 8259, section 7: in two units where one is too small).
        return text.escapingForeign { scalar in
            String(scalar).utf16.map { "\\u" + $0.padded(to: 4, radix: 16) }.joined()
        }
    }
}

/// An object of the store, and what is to be known of it.
struct KeyRemark: Encodable {
    var key: String
    var reason: String

    init(_ key: ObjectKey, _ reason: String) { (self.key, self.reason) = (key.rawValue, reason) }
}

/// A file, and what is to be known of it.
struct PathRemark: Encodable, Hashable {
    var path: String
    var reason: String

    init(_ path: FilePath, _ reason: String) { self.init(path.text, reason) }

    init(_ path: String, _ reason: String) { (self.path, self.reason) = (path, reason) }
}

/// What a report knows for people alone: its JSON has no such field.
@propertyWrapper
struct Untold<Value: Sendable>: Encodable, Sendable {
    var wrappedValue: Value

    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) {}
}

extension KeyedEncodingContainer {
    /// What the compiler makes of a report calls this one for such a field.
    mutating func encode<Value>(_ value: Untold<Value>, forKey key: Key) throws {}
}

/// A field that is present even when it has no value: `null` tells more than absence.
@propertyWrapper
struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        try wrappedValue.encode(to: encoder)
    }
}
