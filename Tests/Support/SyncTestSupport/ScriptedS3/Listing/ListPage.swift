/// One page of a listing: keys, and the common prefixes that a delimiter makes of others.
struct ListPage {
    private(set) var keys: [ObjectName] = []
    private(set) var prefixes: [ObjectName] = []
    private(set) var isTruncated = false
    /// The last key or common prefix of the page: where the next one begins.
    private(set) var last: ObjectName?

    /// - Parameters:
    ///   - names: those with the prefix, in order.
    ///   - prefix: the length of the prefix, in bytes.
    ///   - start: a common prefix that was given on an earlier page is not given again.
    mutating func fill(
        from names: ArraySlice<ObjectName>, prefix: Int, delimiter: [UInt8]?, limit: Int, after start: ObjectName?
    ) {
        for name in names {
            let common = delimiter.flatMap { Self.common(name, prefix: prefix, delimiter: $0) }
            if let common, common == last || common == start { continue }
            guard keys.count + prefixes.count < limit else {
                isTruncated = true
                return
            }
            if let common {
                prefixes.append(common)
            } else {
                keys.append(name)
            }
            last = common ?? name
        }
    }

    private static func common(_ name: ObjectName, prefix: Int, delimiter: [UInt8]) -> ObjectName? {
        guard let found = name.bytes[prefix...].firstRange(of: delimiter) else { return nil }
        return ObjectName(Array(name.bytes[..<found.upperBound]))
    }
}
