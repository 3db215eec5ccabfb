package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// What a stored object is still needed for.
package enum StoredReference: Hashable, Sendable {
    /// Another photo has the same content, whether its file is there or not.
    case path(FilePath)
    /// It is what was stored of an earlier content of this photo.
    case version(FilePath)
    /// The catalogue of another machine names it.
    case machine(String)
    /// The manifest of a vacation names it: a folder, or a cache key.
    case vacation(String)
    case event
    case archivedEvent
    case project
    /// An open share takes it from here.
    case share(String)
    /// It is being restored, or waits to be saved.
    case restore(job: Int64)
    /// Whether another machine needs it could not be read.
    case unread(String)
    /// A machine of this name stores for the same user, and what it needs is not known for certain.
    case others(String)

    /// Whether this ends by itself or by a command, so that its path stays known until then: nobody could name the object
    /// afterwards.
    package var holdsPath: Bool {
        switch self {
        case .share, .restore, .unread, .others, .project: true
        case .path, .version, .machine, .vacation, .event, .archivedEvent: false
        }
    }
}

/// An object of which a path is to be forgotten.
package struct ForgottenObject: Hashable, Sendable {
    package var record: ObjectRecord
    /// The photos that were named, by their rows.
    package var photos: [Int64]
    /// What else needs it.
    package var references: [StoredReference]
    /// When it came into its storage class.
    package var since: Date
}

/// An object that nothing refers to, on its way out of the store.
package struct ObjectDeletion: Hashable, Sendable {
    package var key: ObjectKey
    package var size: Int64
    package var storageClass: StorageClass
}
