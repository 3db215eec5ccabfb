package import FoundationEssentials
package import SystemPackage

/// Why nothing is sent for an object that somebody wants back.
package enum RestoreSkip: Hashable, Sendable {
    /// The tier where a job of ours knows it.
    case alreadyRetrieving(RestoreTier?)
    /// The end, where the store tells one.
    case alreadyReadable(until: Date?)
    case notArchived(StorageClass)
    /// The photo itself is where its copy was to be saved.
    case originalThere(FilePath)
}

extension RestoreSkip: CustomStringConvertible {
    /// A sentence for people, without the name of the object.
    package var description: String {
        switch self {
        case .alreadyRetrieving(let tier): "already retrieving" + (tier.map { " (\($0.rawValue))" } ?? "")
        case .alreadyReadable(let end):
            "already restored" + (end.map { ", readable until \($0.formatted(.iso8601))" } ?? "")
        case .notArchived(let storageClass): "not archived: objects in \(storageClass) can be read at once"
        case .originalThere(let place): "the original is there, and stays: \(place)"
        }
    }
}
