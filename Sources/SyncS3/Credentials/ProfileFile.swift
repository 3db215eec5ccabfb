import FoundationEssentials
import SyncCore

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
