import SyncCore

/// What of a file is answered (RFC 9110, 13 and 14).
struct FilePlan {
    private(set) var response: WebResponse
    /// Bytes.
    private(set) var range: Range<Int64>

    /// - Parameter response: the handler's. Only a 200 is made another.
    init(_ stamp: FileStamp, _ response: WebResponse, _ request: WebRequest) {
        let tag = Self.tag(stamp)
        self.response = response
        range = 0..<stamp.size
        self.response.headers += [WebRequest.Field("etag", tag), WebRequest.Field("accept-ranges", "bytes")]
        guard response.status == 200 else { return }
        if let known = request.header("if-none-match"), Self.names(known, tag) {
            self.response.status = 304
            return
        }
        // A part of another state of the file would be put beside what the client has.
        let isSame = request.header("if-range").map { $0 == tag } ?? true
        guard request.method == .get, isSame, let asked = request.header("range").flatMap(AskedRange.init) else {
            return
        }
        let part = asked.range(in: stamp.size)
        range = part ?? 0..<0
        self.response.status = part == nil ? 416 : 206
        let told = part.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        self.response.headers.append(WebRequest.Field("content-range", "bytes \(told)/\(stamp.size)"))
    }

    /// Another one for each state of the file that can be told without reading it.
    static func tag(_ stamp: FileStamp) -> String {
        let parts = [UInt64(bitPattern: stamp.size), UInt64(bitPattern: stamp.modified), stamp.inode]
        return "\"\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    /// Whether `If-None-Match` has the tag, weak or not.
    private static func names(_ known: String, _ tag: String) -> Bool {
        known == "*"
            || known.split(separator: ",").contains { entry in
                let entry = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
                return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == tag
            }
    }
}

/// `Range` with one range. Several, or what cannot be read, is no range at all: all of the file is the answer.
struct AskedRange: Hashable {
    private let first: Int64?
    private let last: Int64?

    init?(_ text: String) {
        guard let unit = text.firstRange(of: "="), text[..<unit.lowerBound].lowercased() == "bytes" else { return nil }
        let parts = text[unit.upperBound...].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.joined().utf8.allSatisfy(\.isDigit) else { return nil }
        // A number that is too large is beyond the end of any file.
        let numbers = parts.map { $0.isEmpty ? nil : Int64($0) ?? .max }
        (first, last) = (numbers[0], numbers[1])
        if let first, let last, last < first { return nil }
        if first == nil && last == nil { return nil }
    }

    /// - Returns: `nil` when the file has none of it.
    func range(in size: Int64) -> Range<Int64>? {
        guard let first else {
            let count = min(last ?? 0, size)
            return count > 0 ? size - count..<size : nil
        }
        guard first < size else { return nil }
        return first..<min(last.map { $0 == .max ? size : $0 + 1 } ?? size, size)
    }
}
