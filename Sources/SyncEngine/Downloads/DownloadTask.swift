package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// One object that is to become a file.
package struct DownloadTask: Hashable, Sendable {
    package var key: ObjectKey
    /// Has to be there. Whether the file may go into it is the caller's to decide.
    package var folder: FilePath
    package var name: FilePath.Component
    /// Of the object's bytes, as we know it ourselves; `nil` to go by what is stored with the object.
    package var sha256: SHA256Digest?
    /// Of the photo of which the object is a copy: a file with these bytes is better than the copy. `nil` where it is not
    /// known.
    package var original: MD5Digest?
    /// What the file's modification time becomes; `nil` for that of the download.
    package var modified: Date?
    /// Whether another file of that name is replaced.
    package var overwrites: Bool

    package init(
        _ key: ObjectKey, to folder: FilePath, name: FilePath.Component, sha256: SHA256Digest? = nil,
        original: MD5Digest? = nil, modified: Date? = nil, overwrites: Bool = false
    ) {
        self.key = key
        self.folder = folder
        self.name = name
        self.sha256 = sha256
        self.original = original
        self.modified = modified
        self.overwrites = overwrites
    }

    package var destination: FilePath { folder.appending(name) }
}

/// What a download that did not fail has come to.
package enum DownloadOutcome: Hashable, Sendable {
    /// The file is on the disk. Unverified is one of whose bytes nobody knows a digest: its length is right.
    case saved(isVerified: Bool)
    /// A file with these bytes was there.
    case alreadyThere
    /// The photo itself was there, of which the object is a copy.
    case originalThere
    /// Something else has the name, and was left as it is.
    case kept
}
