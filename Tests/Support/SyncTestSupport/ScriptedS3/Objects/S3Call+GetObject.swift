import SyncCore

extension S3Call {
    /// GetObject, and HeadObject, whose body the connection leaves out.
    func getObject(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        let object = try bucket.object(key, at: now)
        try checkReadConditions(object)
        var headers = overridden(ObjectAttributeHeaders.of(object, at: now))
        if request.operation == .getObject, object.isArchived(at: now) { throw .archived(object) }
        guard let range = try range(object) else {
            if header("x-amz-checksum-mode")?.uppercased() == "ENABLED" {
                headers += object.checksums.sorted { $0.key < $1.key }.map {
                    (RequestBody.checksumPrefix + $0.key, $0.value)
                }
            }
            if header("if-none-match").map({ Self.matches($0, object) }) == true {
                return ServerReply(status: 304, headers: [("ETag", "\"\(object.etag)\"")])
            }
            return ServerReply(status: 200, headers: headers, body: object.bytes)
        }
        headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(object.bytes.count)"))
        return ServerReply(status: 206, headers: headers, body: Array(object.bytes[range]))
    }

    private func checkReadConditions(_ object: StoredObject) throws(S3Failure) {
        if let value = header("if-match"), !Self.matches(value, object) { throw .preconditionFailed("If-Match") }
    }

    /// The query items with which a presigned link sets its own headers.
    private func overridden(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        var headers = headers
        for (name, value) in request.query where name.hasPrefix("response-") {
            let name = String(name.dropFirst("response-".count))
            headers.removeAll { $0.name == name }
            headers.append((name, value))
        }
        return headers
    }

    /// One range of bytes (RFC 9110, 14.2); `nil` for none, for several, and for what is no range at all.
    private func range(_ object: StoredObject) throws(S3Failure) -> Range<Int>? {
        guard let text = header("range"), text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let sides = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let count = object.bytes.count
        let range: Range<Int>? =
            switch (Int(sides[0]), Int(sides[1])) {
            case (let first?, let last?) where first <= last && first < count: first..<(min(last, count - 1) + 1)
            case (let first?, nil) where sides[1].isEmpty && first < count: first..<count
            case (nil, let suffix?) where sides[0].isEmpty && suffix > 0 && count > 0: max(0, count - suffix)..<count
            default: nil
            }
        if let range { return range }
        guard Int(sides[0]) != nil || Int(sides[1]) != nil else { return nil }
        throw S3Failure(
            416, "InvalidRange", "The requested range is not satisfiable",
            details: [("RangeRequested", text), ("ActualObjectSize", "\(count)")])
    }
}
