/// What two vacations have in common when they consist of the same photos, whatever these are called: the fingerprint is the
/// SHA-256 of ``material(_:)``.
package enum VacationFingerprint {
    /// The MD5s of all photos in ascending order, 16 bytes each, one after the other.
    package static func material(_ photos: some Sequence<MD5Digest>) -> [UInt8] {
        photos.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
    }
}
