import Foundation
import SyncCore

extension ValueKind where Value == String {
    /// A scalar taken as it is written, so that `profile: 1968` and `profile: no` are texts.
    private static func text(
        _ name: String = "text", accepted: String, check: @escaping @Sendable (String) throws(Rejection) -> Void
    ) -> Self {
        ValueKind(
            name, accepted: accepted,
            text: { (text) throws(Rejection) in
                try check(text)
                return text
            },
            render: YAMLText.scalar)
    }

    /// A name that becomes one segment of an object key.
    static var keySegment: Self {
        text(accepted: "a name of 1 to 128 bytes without \"/\"") { (text) throws(Rejection) in
            guard text.utf8.count <= 128 else { throw Rejection() }
            do throws(InvalidName) {
                _ = try KeyLayout(user: text)
            } catch {
                throw Rejection(error.reason)
            }
        }
    }

    /// The beginning of all object keys; empty for none.
    static var keyPrefix: Self {
        text(accepted: "a path inside the bucket of at most 512 bytes, without \"/\" at its ends, or \"\"") {
            (text) throws(Rejection) in
            guard text.utf8.count <= 512 else { throw Rejection() }
            guard !text.isEmpty else { return }
            do throws(InvalidName) {
                _ = try ObjectKey(text)
            } catch {
                throw Rejection(error.reason)
            }
        }
    }

    /// S3 User Guide, "General purpose bucket naming rules", and the wider set of older buckets and other servers.
    static var bucket: Self {
        text(accepted: "3 to 255 letters, digits, \".\", \"-\" or \"_\", or the ARN of an access point") {
            (text) throws(Rejection) in
            if text.hasPrefix("arn:"), text.utf8.count <= 255,
                text.utf8.allSatisfy({ $0.isAlphanumeric || ".-_:/".utf8.contains($0) })
            {
                return
            }
            guard (3...255).contains(text.utf8.count),
                text.utf8.allSatisfy({ $0.isAlphanumeric || ".-_".utf8.contains($0) }),
                text.utf8.first?.isAlphanumeric == true
            else { throw Rejection() }
        }
    }

    static var region: Self {
        text(accepted: "a region's name such as eu-central-1") { (text) throws(Rejection) in
            guard (1...64).contains(text.utf8.count),
                text.utf8.allSatisfy({ $0.isAlphanumeric || "-_".utf8.contains($0) })
            else { throw Rejection() }
        }
    }

    /// A profile of the shared AWS files.
    static var awsProfile: Self {
        text(accepted: "the name of a profile in the shared AWS files") { (text) throws(Rejection) in
            guard !text.isEmpty, !text.contains("]"), text == text.escapingControls else { throw Rejection() }
        }
    }

    /// What people call a machine.
    static var machineName: Self {
        text(accepted: "a name of 1 to 64 bytes") { (text) throws(Rejection) in
            guard (1...64).contains(text.utf8.count), text == text.escapingControls, text.contains(where: { $0 != " " })
            else { throw Rejection() }
        }
    }

    /// Two letters (ISO 3166-1 alpha-2), as libphonenumber names regions.
    static var phoneRegion: Self {
        text(accepted: "a country as two capital letters, such as DE or US") { (text) throws(Rejection) in
            guard text.utf8.count == 2, text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
            else { throw Rejection() }
        }
    }

    /// A key of KMS or a like of it (AWS KMS Developer Guide, "Key identifiers").
    static var kmsKey: Self {
        text(accepted: "a key's id, alias or ARN") { (text) throws(Rejection) in
            guard (1...2_048).contains(text.utf8.count),
                text.utf8.allSatisfy({ $0.isAlphanumeric || ":/_-.+=@".utf8.contains($0) })
            else { throw Rejection() }
        }
    }

    /// A path as it is written; ``ConfigLocation/resolve(_:)`` makes it absolute.
    static var path: Self {
        text("path", accepted: "an absolute path, one below \"~/\", or one relative to this file") {
            (text) throws(Rejection) in
            guard !text.isEmpty, !text.contains("\0") else { throw Rejection() }
            guard !text.contains("://") else {
                throw Rejection("an address is no folder; mount it, and name where it is mounted")
            }
            guard !text.hasPrefix("$") else {
                throw Rejection("variables are not expanded; write the path, or \"~/\" for your home folder")
            }
        }
    }
}

extension ConfigNode {
    /// The parts of a list of texts.
    /// - Parameter accepts: what may be one.
    func texts(_ accepts: (String) -> Bool = { _ in true }) throws(Rejection) -> [String] {
        guard case .list(let items) = content else { throw Rejection() }
        var texts: [String] = []
        for item in items {
            guard case .text(let text, _) = item.content, !item.isNull, accepts(text) else {
                throw Rejection("one of its parts is no text")
            }
            texts.append(text)
        }
        return texts
    }
}

extension ValueKind where Value == [String] {
    /// A command line, word by word: no shell splits it. Empty for none.
    static var command: Self {
        ValueKind(
            "list of text", accepted: "a list of texts, the program first, such as [notify-send, done], or []",
            read: { (node) throws(Rejection) in
                let words = try node.texts { !$0.contains("\0") }
                if words.first == "" { throw Rejection("the program's name is empty") }
                return words
            },
            render: { "[\($0.map(YAMLText.scalar).joined(separator: ", "))]" })
    }
}

extension ValueKind where Value == Set<Notice.Kind> {
    /// Some kinds of notices, or `all`.
    static var noticeKinds: Self {
        let names = Notice.Kind.allCases.map { $0.rawValue }
        return ValueKind(
            "list of choices", accepted: "all, or a list of \(names.joined(separator: ", "))",
            read: { (node) throws(Rejection) in
                if case .text("all", _) = node.content { return Set(Notice.Kind.allCases) }
                guard case .list(let items) = node.content else { throw Rejection() }
                var kinds: Set<Notice.Kind> = []
                for item in items {
                    guard case .text(let text, _) = item.content, let kind = Notice.Kind(rawValue: text) else {
                        throw Rejection("one of its parts is no kind")
                    }
                    kinds.insert(kind)
                }
                return kinds
            },
            render: { kinds in
                if kinds.count == names.count { return "all" }
                return "[\(Notice.Kind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ", "))]"
            })
    }
}

extension ValueKind where Value == URL {
    /// An http or https address with a host.
    /// - Parameter isSecret: then neither name nor password is refused, and a query may stand in it.
    /// - Parameter hasPath: whether it may have a path behind its host.
    static func address(isSecret: Bool = false, hasPath: Bool = true) -> Self {
        let example = hasPath ? "an http or https address" : "an http or https address that ends with its host or port,"
        return ValueKind(
            "url", accepted: isSecret ? example : "\(example) without password, \"?\" or \"#\"",
            text: { (text) throws(Rejection) in
                guard text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }), let url = URL(string: text),
                    ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
                else { throw Rejection() }
                guard isSecret || (url.user == nil && url.password == nil && url.query == nil && url.fragment == nil)
                else { throw Rejection() }
                guard hasPath || ["", "/"].contains(url.path) else { throw Rejection() }
                return url
            },
            render: { YAMLText.scalar($0.absoluteString) })
    }
}

extension ValueKind where Value == TimeOfDay {
    static var timeOfDay: Self {
        ValueKind(
            "time", accepted: "a time of day from \"00:00\" to \"23:59\"",
            text: { (text) throws(Rejection) in
                guard let time = TimeOfDay(text) else { throw Rejection() }
                return time
            },
            render: { "\"\($0)\"" })
    }
}

extension ValueKind where Value == TimeZone {
    /// A zone of the tz database.
    static var timeZone: Self {
        ValueKind(
            "time zone", accepted: "a time zone such as Europe/Berlin or UTC",
            text: { (text) throws(Rejection) in
                guard !text.isEmpty, let zone = TimeZone(identifier: text) else {
                    let hasSign = text.contains { "+-−".contains($0) }
                    if hasSign, !text.contains("/"), text.contains(where: \.isNumber) {
                        throw Rejection("an offset is no zone: it does not tell when summer begins")
                    }
                    let near = NearMiss.suggestion(for: text, among: TimeZone.knownTimeZoneIdentifiers)
                    throw Rejection(near.map { "did you mean \"\($0)\"?" })
                }
                return zone
            },
            render: { YAMLText.scalar($0.identifier) })
    }
}

extension ValueKind where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    static var choice: Self {
        // A key path is made at run time, one for each type that has such a key.
        let names = Value.allCases.map { $0.rawValue }
        return ValueKind(
            "choice", accepted: Array(names.dropLast()).joined(separator: ", ") + " or " + (names.last ?? ""),
            text: { (text) throws(Rejection) in
                guard let value = Value(rawValue: text) else {
                    throw Rejection(NearMiss.suggestion(for: text, among: names).map { "did you mean \"\($0)\"?" })
                }
                return value
            },
            render: { $0.rawValue })
    }
}

extension ValueKind where Value == ListenAddress {
    static var listenAddress: Self {
        ValueKind(
            "address", accepted: "an address and a port, such as 127.0.0.1:8420, [::1]:8420 or 0.0.0.0:8420",
            text: { (text) throws(Rejection) in
                guard let address = try? ListenAddress(text) else { throw Rejection() }
                return address
            },
            render: { YAMLText.scalar("\($0)") })
    }
}

extension ListenAddress {
    /// Of the gallery, unless another one is set.
    static let gallery: Self = {
        guard let address = ListenAddress(host: "127.0.0.1", port: 8_420) else { preconditionFailure("an address") }
        return address
    }()
}
