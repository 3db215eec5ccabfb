import SyncCore
package import SystemPackage

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
    package var path: String
    /// Line of the file, from 1; `nil` when no line is to blame.
    package var line: Int?
    /// What was found, what is accepted, what to do. Never holds the value of a secret key.
    package var message: String

    package init(path: String = "", line: Int? = nil, message: String) {
        self.path = path
        self.line = line
        self.message = message
    }

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
