/// Header fields in their order. Names are compared without case (RFC 9110, 5.1).
package struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of that name. Setting replaces all of them; `nil` removes them.
    package subscript(name: String) -> String? {
        get {
            let name = name.lowercased()
            return fields.first { $0.name.lowercased() == name }?.value
        }
        set {
            let lowered = name.lowercased()
            fields.removeAll { $0.name.lowercased() == lowered }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}
