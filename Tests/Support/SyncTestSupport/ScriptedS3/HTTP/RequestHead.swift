/// The head of an HTTP/1.1 request (RFC 9112), with its bytes as they came: a signature covers those.
struct RequestHead: Sendable {
    let method: String
    /// Path and query, undecoded.
    let target: String
    /// In the order in which they came; names in lower case, values as ISO 8859-1, one scalar a byte.
    let headers: [(name: String, value: String)]

    /// `nil` when the bytes are no HTTP request.
    init?(_ bytes: [UInt8]) {
        // Swift sees the pair of bytes that ends a line as one character.
        let lines = String(latin1: bytes).split(separator: "\r\n" as Character, omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1", words[1].hasPrefix("/") else { return nil }
        method = String(words[0])
        target = String(words[1])
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            headers.append((line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingBlanks()))
        }
        self.headers = headers
    }

    /// The value of a header, several joined by commas.
    subscript(name: String) -> String? {
        let values = headers.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}

extension StringProtocol {
    func trimmingBlanks() -> String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension String {
    /// Each byte as the scalar of its number.
    init(latin1 bytes: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// The bytes that ``init(latin1:)`` was made from.
    var latin1Bytes: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
