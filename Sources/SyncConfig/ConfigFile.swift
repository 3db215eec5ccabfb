import SyncCore
package import SystemPackage

/// A configuration that was read and accepted.
package struct LoadedSettings: Hashable, Sendable {
    package var settings: Settings
    /// What works and should be seen to, by line.
    package var warnings: [ConfigProblem]
}

/// Reads the configuration. Blocks, for one small file.
package enum ConfigFile {
    /// Bytes.
    package static let maximumSize = 1 << 20

    /// - Throws: ``ConfigError`` with everything that is wrong.
    package static func load(_ location: ConfigLocation) throws(ConfigError) -> LoadedSettings {
        let (bytes, mode) = try read(
            location.file,
            ifMissing: "there is no configuration; run `sync-agent init` to write one, or name another with --config")
        return try parse(bytes, mode: mode, location: location)
    }

    /// Checks the text of a configuration without touching a disk.
    /// - Parameter mode: the file's permissions, for the warning about a secret that others can read; `nil` for a text
    ///   that comes from no file.
    package static func parse(
        _ bytes: [UInt8], mode: FilePermissions? = nil, location: ConfigLocation
    ) throws(ConfigError) -> LoadedSettings {
        let root: ConfigNode
        do {
            root = try ConfigDocument.parse(try text(bytes))
        } catch {
            throw ConfigError(file: location.file, problems: [error])
        }
        var reader = SettingsReader(root, location: location)
        let settings = Settings(from: &reader)
        guard reader.problems.isEmpty else { throw ConfigError(file: location.file, problems: reader.problems) }
        return LoadedSettings(settings: settings, warnings: warnings(reader, mode: mode))
    }

    /// The text without a byte order mark, which editors on Windows put before it.
    static func text(_ bytes: [UInt8]) throws(ConfigProblem) -> String {
        guard bytes.count <= maximumSize else {
            throw ConfigProblem(message: "the file is larger than \(maximumSize) bytes: this is no configuration")
        }
        let content = bytes.dropFirst(bytes.utf8MarkLength)
        if let text = String(validating: content, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let bad = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw ConfigProblem(line: bad.map { $0 + 1 }, message: "the text is not UTF-8; save the file in that encoding")
    }

    private static func warnings(_ reader: SettingsReader, mode: FilePermissions?) -> [ConfigProblem] {
        var warnings: [ConfigProblem] = []
        if reader.entryLines(of: "watch").isEmpty {
            warnings.append(ConfigProblem(path: "watch", message: "no folder is watched, so there is nothing to store"))
        }
        let othersMay = mode?.intersection([.groupReadWriteExecute, .otherReadWriteExecute]) ?? []
        if !othersMay.isEmpty {
            let file = reader.location.file.string.escapingControls
            for key in ConfigKeys.all where key.traits.isSecret && reader.isSet(key.path) {
                let message = "is a secret, and others may open the file; run: chmod 600 '\(file)'"
                warnings.append(ConfigProblem(path: key.path, line: reader.line(of: key.path), message: message))
            }
        }
        return warnings.inFileOrder
    }

    /// - Parameter message: what to say when the file is not there.
    static func read(
        _ file: FilePath, ifMissing message: String
    ) throws(ConfigError) -> ([UInt8], FilePermissions) {
        do {
            let descriptor = try FileDescriptor.open(file, .readOnly, options: [.closeOnExec])
            return try descriptor.closeAfter {
                let mode = try descriptor.stat().mode.permissions
                return (try contents(of: descriptor), mode)
            }
        } catch let error as Errno {
            throw ConfigError(reason(for: error, ifMissing: message), file: file)
        } catch {
            throw ConfigError("cannot be read: \(error)", file: file)
        }
    }

    /// Reads to the end, or to one byte past ``maximumSize``.
    private static func contents(of descriptor: FileDescriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumSize {
            let count = try chunk.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private static func reason(for error: Errno, ifMissing message: String) -> String {
        switch error {
        case .noSuchFileOrDirectory, .notDirectory: message
        case .isDirectory: "this is a folder; name the configuration file in it"
        case .permissionDenied, .notPermitted:
            "cannot be read: \(error.description.lowercased()); give this user the right to read it"
        default: "cannot be read: \(error.description.lowercased())"
        }
    }
}

/// Everything that is wrong with a configuration, told at once.
package struct ConfigError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The configuration file; `nil` when the trouble is with finding it.
    package var file: FilePath?
    /// Sorted by line; those without a line come first. Never empty.
    package var problems: [ConfigProblem]

    package init(file: FilePath?, problems: [ConfigProblem]) {
        self.file = file
        self.problems = problems.inFileOrder
    }

    /// One problem, that no line is to blame for.
    init(_ message: String, file: FilePath? = nil) {
        self.init(file: file, problems: [ConfigProblem(message: message)])
    }

    /// One problem on one line after the file's name; several on lines of their own.
    package var description: String {
        let name = file.map { $0.string.escapingControls } ?? "configuration"
        guard problems.count != 1 else { return "\(name): \(problems[0])" }
        return (["\(name): \(problems.count) problems"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

/// One thing that is wrong, or worth a warning.
package struct ConfigProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key, as in `upload.batch_size` or `watch[1].path` (entries count from 0); empty when it concerns no key. It is
    /// shown as far as it cannot be a secret that stands in the wrong place.
    package var path = ""
    /// Line of the file, from 1; `nil` when no line is to blame.
    package var line: Int?
    /// What was found, what is accepted, what to do. Never holds the value of a secret key.
    package var message: String

    package var description: String {
        let place = line.map { "line \($0): " } ?? ""
        return place + (path.isEmpty ? message : "\(ShownText.name(path) ?? ShownText.hiddenName): \(message)")
    }
}

extension [ConfigProblem] {
    var inFileOrder: [ConfigProblem] {
        sorted { ($0.line ?? 0, $0.path) < ($1.line ?? 0, $1.path) }
    }
}
