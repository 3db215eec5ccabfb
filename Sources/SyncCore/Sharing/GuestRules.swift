/// What guests may add to a share.
package enum GuestRules {
    /// In the life of a share.
    package static let mostPhotos = 100
    /// Of one photo.
    package static let mostBytes: Int64 = 32 << 20
    /// An object of so many bytes at most reserves a place, and is no photo.
    package static let claimBytes: Int64 = 64
    package static let upload = UploadRules(mostBytes: mostBytes, contentType: "image/")
}
