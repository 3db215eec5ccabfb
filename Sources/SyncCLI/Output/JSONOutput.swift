import FoundationEssentials
import SyncCore

/// The one form of our JSON: camelCase fields, sorted, ISO 8601 in UTC, slashes as they are, and nothing in it that
/// a terminal would act on.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        assert(Self.absentKeys(in: value) == [], "what may lack a value is Nullable, and then null")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // The encoder escapes what JSON demands. C1 controls and bidirectional marks are left to us: they stand inside of
        // strings only, and mean the same escaped.
        return text.escaping({ $0.isLateControl || $0.movesText }) { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// The keys that would be left out where they have no value: optional fields that are not ``Nullable``, however deep.
    static func absentKeys(in value: Any) -> Set<String> {
        let mirror = Mirror(reflecting: value)
        var keys: Set<String> = []
        for child in mirror.children {
            let isOptional = Mirror(reflecting: child.value).displayStyle == .optional
            // A wrapper's own storage begins with an underscore.
            if mirror.displayStyle == .struct, isOptional, let label = child.label, !label.hasPrefix("_"),
                !(value is any NullableField)
            {
                keys.insert(label)
            }
            keys.formUnion(absentKeys(in: child.value))
        }
        return keys
    }
}

/// For whoever looks at values without knowing their types.
protocol NullableField {}

/// A field that is present even when it has no value: `null` tells more than absence.
@propertyWrapper
struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable, NullableField {
    var wrappedValue: Value?

    init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}
