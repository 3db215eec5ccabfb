/// A value that JSON has as its text.
package protocol CodedAsText: Codable, LosslessStringConvertible {
    /// What the text has to be, for errors: "a day as YYYY-MM-DD".
    static var form: String { get }
}

extension CodedAsText {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not \(Self.form)"))
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
