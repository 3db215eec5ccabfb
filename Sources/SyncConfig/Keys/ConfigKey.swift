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
        _ path: String, _ kind: ValueKind<Value>, default fallback: Value, traits: KeyTraits = KeyTraits(),
        _ meaning: String
    ) {
        self.path = path
        self.kind = kind
        self.fallback = fallback
        self.isRequired = false
        self.traits = traits
        self.meaning = meaning
    }

    init(_ path: String, _ kind: ValueKind<Value>, required example: Value, _ meaning: String) {
        self.path = path
        self.kind = kind
        self.fallback = example
        self.isRequired = true
        self.traits = KeyTraits()
        self.meaning = meaning
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
