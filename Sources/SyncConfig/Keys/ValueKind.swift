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
