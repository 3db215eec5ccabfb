import SyncCore

/// A request as S3 understands it, before its signature is checked.
struct S3Request: Sendable {
    let head: RequestHead
    /// The path as it came, in bytes, percent-decoded.
    let path: [UInt8]
    /// In their order, percent-decoded, a missing value as an empty one.
    let query: [(name: String, value: String)]
    let bucket: String?
    let key: ObjectName?
    let operation: S3Operation

    /// `BUCKET.localhost` and `BUCKET.s3.…` name the bucket themselves; on any other host it is the first part of the
    /// path.
    /// - Throws: InvalidURI.
    init(_ head: RequestHead) throws(S3Failure) {
        self.head = head
        let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.decode(parts[0])
        var query: [(name: String, value: String)] = []
        for item in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? sides[1] : ""
            query.append((try Self.text(sides[0]), try Self.text(value)))
        }
        self.query = query
        var rest = path.dropFirst()
        bucket = Self.bucket(ofHost: head["host"] ?? "") ?? Self.takeBucket(from: &rest)
        key = rest.isEmpty ? nil : ObjectName(Array(rest))
        operation = S3Operation(
            method: head.method, hasBucket: bucket != nil, hasKey: key != nil, query: Set(query.map(\.name)),
            isCopy: head["x-amz-copy-source"] != nil)
    }

    /// The first value of a query item; `nil` when there is none of that name.
    func value(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    var isPresigned: Bool { value("X-Amz-Signature") != nil || value("X-Amz-Algorithm") != nil }

    private static func takeBucket(from rest: inout ArraySlice<UInt8>) -> String? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func bucket(ofHost host: String) -> String? {
        let name = host.split(separator: ":")[safe: 0] ?? ""
        if name.hasSuffix(".localhost") { return String(name.dropLast(".localhost".count)) }
        guard let end = name.firstRange(of: ".s3.") else { return nil }
        return String(name[..<end.lowerBound])
    }

    private static func text(_ encoded: Substring) throws(S3Failure) -> String {
        String(decoding: try decode(encoded), as: UTF8.self)
    }

    /// `%XX` as its byte, and `+` as a space: in a path too, as S3 reads it.
    static func decode(_ encoded: Substring) throws(S3Failure) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = Array(String(encoded).latin1Bytes)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard
                    rest.count >= 2,
                    let value = [UInt8](hexadecimal: String(decoding: rest.prefix(2), as: UTF8.self))
                else { throw S3Failure(400, "InvalidURI", "Couldn't parse the specified URI.") }
                decoded += value
                rest = rest.dropFirst(2)
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
