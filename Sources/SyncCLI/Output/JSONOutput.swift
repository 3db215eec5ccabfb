import FoundationEssentials
import SyncCore

/// The one form of our JSON: camelCase fields, sorted, ISO 8601 in UTC, slashes as they are, and nothing in it that
/// a terminal would act on.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // The encoder escapes what JSON demands. C1 controls and what is not seen are left to us: they stand inside of
        // strings only, and mean the same escaped (RFC 8259, section 7: in two units where one is too small).
        return text.escapingForeign { scalar in
            String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }
}

/// A field that is present even when it has no value: `null` tells more than absence.
@propertyWrapper
struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
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
