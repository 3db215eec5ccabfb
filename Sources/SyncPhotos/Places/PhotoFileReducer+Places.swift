import SyncCore
import SyncDigest

/// Copies of what is no JPEG: the bytes as they are, or with `strip_location` what is left of them without their place.
extension PhotoFileReducer {
    static func copy(of photo: [UInt8], _ unchanged: StoredCopy, policy: ReducePolicy) throws(PhotoError) -> StoredCopy
    {
        guard policy.stripLocation else { return unchanged }
        return try withoutPlace(photo, unchanged)
    }

    /// - Parameter size: bytes of the file.
    static func copy(
        of file: borrowing PhotoFile, size: Int64, _ unchanged: StoredCopy, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        // What is neither photo nor video is the list of a projects folder.
        guard policy.stripLocation, unchanged.type.kind != .other else { return unchanged }
        if MovieCheck.types.contains(unchanged.type.name) {
            try MovieCheck.require(file, size: Int(size))
            return unchanged
        }
        guard PlaceCut.types.contains(unchanged.type.name), size <= PlaceCut.largest else {
            throw PlaceCut.types.contains(unchanged.type.name)
                ? .place("it is too large to take its position out") : PlaceCut.refusal(of: unchanged.type)
        }
        return try withoutPlace(try file.read(0..<Int(size)), unchanged)
    }

    private static func withoutPlace(_ photo: [UInt8], _ unchanged: StoredCopy) throws(PhotoError) -> StoredCopy {
        let cut = try PlaceCut.make(photo, of: unchanged.type)
        if cut.bytes == photo { return unchanged }
        var copy = unchanged
        copy.content = .reduced(cut.bytes)
        copy.digest = ContentDigest(of: cut.bytes)
        copy.dropped = cut.dropped.inOrder
        return copy
    }
}
