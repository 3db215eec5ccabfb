/// One key of the configuration: everything that reading, the reference and the template know of it.
struct ConfigKey<Value: Sendable>: Sendable {
    /// As written in messages: `upload.batch_size`; `watch[].path` for a key of each entry of a list.
    let path: String
    let kind: ValueKind<Value>
    /// What is used when the key is not given or not accepted. For a required key it is the template's example.
    let fallback: Value
    let isRequired: Bool
    let traits: KeyTraits
    let meaning: String

    init(
        _ path: String, _ kind: ValueKind<Value>, default fallback: Value, isRequired: Bool = false,
        traits: KeyTraits = KeyTraits(), _ meaning: String
    ) {
        self.path = path
        self.kind = kind
        self.fallback = fallback
        self.isRequired = isRequired
        self.traits = traits
        self.meaning = meaning
    }

    init(_ path: String, _ kind: ValueKind<Value>, required example: Value, _ meaning: String) {
        self.init(path, kind, default: example, isRequired: true, meaning)
    }

    var description: KeyDescription {
        KeyDescription(
            path: path, type: kind.name, accepted: kind.accepted, defaultText: isRequired ? nil : kind.render(fallback),
            example: traits.example ?? kind.render(fallback), traits: traits, meaning: meaning)
    }
}

/// What is particular about a key.
struct KeyTraits: Sendable {
    /// The only type of store that has the key.
    var store: StoreType?
    /// Its value is not repeated in messages, and the file that holds it should be its owner's alone.
    var isSecret = false
    /// YAML to show in the template where the default shows nothing.
    var example: String?
}

/// A ``ConfigKey`` without its type.
struct KeyDescription: Sendable {
    let path: String
    let type: String
    let accepted: String
    /// YAML; `nil` for a required key.
    let defaultText: String?
    /// YAML that shows how a value looks.
    let example: String
    let traits: KeyTraits
    let meaning: String

    /// The last part of the path.
    var name: Substring { path[(path.lastIndex(of: ".").map(path.index(after:)) ?? path.startIndex)...] }
    /// What stands before it; empty at the top.
    var section: Substring { path[..<(path.lastIndex(of: ".") ?? path.startIndex)] }
}

/// What each section is about, for the reference and the template.
enum ConfigSections {
    private static let meanings = [
        "store": "Where the copies are stored.",
        "watch": "The folders that are watched.",
        "photos": "What is stored of a photo.",
        "upload": "The pace of the work.",
        "tiers": "When photos move to the archive.",
        "retention": "When gallery events are archived and their text is deleted.",
        "restore": "How archived photos come back.",
        "cost": "What estimates of a bill are made from.",
        "share": "The bounds of a shared vacation.",
        "verify": "How the agent sees that what is stored is whole.",
        "projects": "What is kept of projects.",
        "serve": "The gallery in a browser.",
        "machine": "This machine, among others that store photos of the same user.",
        "metrics": "What monitoring reads.",
        "notify": "Who is told of restores, shares, and what is wrong.",
    ]

    /// - Parameter section: as in the paths of keys, with `[]` for a list.
    static func meaning(of section: some StringProtocol) -> String? {
        meanings[section.hasSuffix("[]") ? String(section.dropLast(2)) : String(section)]
    }
}

/// The shape that the paths of ``ConfigKeys`` make: which names may stand where.
enum KeyTree {
    enum Shape {
        case leaf(KeyDescription)
        case section
        case list
    }

    /// What stands at a path in the schema's spelling (`watch[].path`); `nil` when nothing does.
    static func shape(of path: String) -> Shape? {
        let (inSection, inList) = (path + ".", path + "[].")
        for key in ConfigKeys.all {
            if key.path == path { return .leaf(key) }
            if key.path.hasPrefix(inSection) { return .section }
            if key.path.hasPrefix(inList) { return .list }
        }
        return nil
    }

    /// Whether a text can be the name of a key or of a section, and is no path.
    static func isName(_ text: String) -> Bool {
        !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }
    }

    /// The names directly below a section, in the order of the reference; those at the top for `""`.
    static func names(in section: String) -> [String] {
        var names: [String] = []
        let start = section.isEmpty ? "" : section + "."
        for key in ConfigKeys.all where key.path.hasPrefix(start) {
            let rest = key.path.utf8.dropFirst(start.utf8.count)
            let name = String(Substring(rest.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }))
            if !name.isEmpty, names.last != name { names.append(name) }
        }
        return names
    }

    /// The sections that have a key of this name.
    static func sections(with name: String) -> [String] {
        ConfigKeys.all.filter { $0.name == name }.map { String($0.section) }
    }
}

/// What a key holds: its type, what is accepted, and both directions between YAML and Swift.
struct ValueKind<Value: Sendable>: Sendable {
    /// The type, as `config reference` names it.
    let name: String
    /// What is accepted, in words that complete "accepted: …".
    let accepted: String
    /// Never gets a null, except from a kind that ``orNull()`` made.
    let read: @Sendable (ConfigNode) throws(Rejection) -> Value
    /// The value as YAML that ``read`` gives back.
    let render: @Sendable (Value) -> String
    let takesNull: Bool

    init(
        _ name: String, accepted: String, takesNull: Bool = false,
        read: @escaping @Sendable (ConfigNode) throws(Rejection) -> Value,
        render: @escaping @Sendable (Value) -> String
    ) {
        self.name = name
        self.accepted = accepted
        self.takesNull = takesNull
        self.read = read
        self.render = render
    }

    /// A kind over one scalar, quoted or not.
    init(
        _ name: String, accepted: String,
        text read: @escaping @Sendable (String) throws(Rejection) -> Value,
        render: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            name, accepted: accepted,
            read: { (node) throws(Rejection) in
                guard case .text(let text, _) = node.content else { throw Rejection() }
                return try read(text)
            },
            render: render)
    }

    /// The same kind, where `null` or nothing at all means "none".
    func orNull() -> ValueKind<Value?> {
        ValueKind<Value?>(
            name, accepted: "\(accepted), or null", takesNull: true,
            read: { (node) throws(Rejection) in node.isNull ? nil : try read(node) },
            render: { $0.map(render) ?? "null" })
    }
}

/// A value was not accepted; whoever asked for it knows the key and says what would be.
struct Rejection: Error {
    /// The reason, where what is accepted does not say it.
    var reason: String?

    init(_ reason: String? = nil) {
        self.reason = reason
    }
}
