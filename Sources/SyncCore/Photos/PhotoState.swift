/// Where a file of a watched folder stands. The names are those of `status --json`.
package enum PhotoState: String, Hashable, Sendable, CaseIterable {
    /// Known, not stored yet; it waits for its turn or for its next try.
    case pending
    /// In hand right now.
    case uploading
    /// The store has proved that it holds it.
    case uploaded
    /// It cannot be stored as it is; tried again when the file changes.
    case failed
    /// Not something that this folder stores.
    case skipped
    /// Stored, and no longer on the disk.
    case missing
    /// No longer on the disk, and what was stored of it is gone or damaged.
    case lost

    /// Whether the file is there, as far as is known.
    package var isOnDisk: Bool { self != .missing && self != .lost }
}
