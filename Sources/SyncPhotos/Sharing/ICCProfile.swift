/// The ICC profile of a JPEG: one or more APP2 segments (ICC.1:2010, B.4).
struct ICCProfile {
    private static let header = Array("ICC_PROFILE\0".utf8)
    private static let chunkSize = 65_519

    /// Bodies of segments in the order of the file, as they are written again.
    let bodies: [[UInt8]]

    static func isChunk(_ body: [UInt8]) -> Bool {
        body.starts(with: header)
    }

    /// `nil` when chunks are missing or told twice, or when they are no profile: readers take no colours from such.
    ///
    /// Bytes behind the length that the profile tells are left out: a damaged segment may have swallowed the next one.
    /// - Parameter coloursOnly: whether its texts and the names of its devices go.
    init?(chunks: [[UInt8]], coloursOnly: Bool) {
        let start = Self.header.count + 2
        guard let total = chunks.first?.dropFirst(start - 1).first, total > 0, total == chunks.count else { return nil }
        guard chunks.allSatisfy({ $0.count > start && $0[start - 1] == total }) else { return nil }
        let ordered = chunks.sorted { $0[start - 2] < $1[start - 2] }
        guard ordered.map({ $0[start - 2] }).elementsEqual(1...total) else { return nil }

        var profile = ordered.flatMap { $0.dropFirst(start) }
        let length = profile.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard profile.count >= 128, profile[36..<40].elementsEqual("acsp".utf8) else { return nil }
        guard (128...profile.count).contains(length) else { return nil }
        guard coloursOnly || length < profile.count else {
            bodies = chunks
            return
        }
        profile.removeSubrange(length...)
        if coloursOnly {
            guard let colours = ICCColours(profile) else { return nil }
            profile = colours.profile
        }
        let starts = Array(stride(from: 0, to: profile.count, by: Self.chunkSize))
        bodies = starts.enumerated().map { index, from in
            Self.header + [UInt8(index + 1), UInt8(starts.count)]
                + profile[from..<min(from + Self.chunkSize, profile.count)]
        }
    }
}
