package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// Where everything stands, from aggregates.
package struct Overview: Hashable, Sendable {
    package struct Folder: Hashable, Sendable {
        package var record: FolderRecord
        package var tallies: PhotoTallies
        /// What is, or was, mounted below it.
        package var mounts: [FolderMount]

        package init(record: FolderRecord, tallies: PhotoTallies, mounts: [FolderMount] = []) {
            self.record = record
            self.tallies = tallies
            self.mounts = mounts
        }
    }

    /// All objects of one storage class.
    package struct Tier: Hashable, Sendable {
        package var storageClass: StorageClass
        package var objects: Int
        /// Stored bytes.
        package var bytes: Int64

        package init(storageClass: StorageClass, objects: Int, bytes: Int64) {
            self.storageClass = storageClass
            self.objects = objects
            self.bytes = bytes
        }
    }

    /// The photo that has waited longest without being safe.
    package struct Unsynced: Hashable, Sendable {
        /// Absolute.
        package var path: FilePath
        /// When the file, as it is now, was first seen.
        package var since: Date
        package var state: PhotoState
        /// In plain words: the last error, or what it waits for.
        package var why: String

        package init(path: FilePath, since: Date, state: PhotoState, why: String) {
            self.path = path
            self.since = since
            self.state = state
            self.why = why
        }
    }

    /// What the store answered last.
    package struct StoreNote: Hashable, Sendable {
        /// `nil` when it was well.
        package var error: String?
        package var at: Date
        /// When the first of the failures came that were not followed by a good answer; `nil` when it was well.
        package var since: Date?

        package init(error: String?, at: Date, since: Date? = nil) {
            self.error = error
            self.at = at
            self.since = since
        }
    }

    /// Items of all restore jobs.
    package struct Restores: Hashable, Sendable {
        /// Planned or asked for.
        package var inProgress: Int
        /// Can be read.
        package var ready: Int
        /// Ever.
        package var failed: Int

        package init(inProgress: Int = 0, ready: Int = 0, failed: Int = 0) {
            self.inProgress = inProgress
            self.ready = ready
            self.failed = failed
        }
    }

    /// The active folders, in the order of the configuration.
    package var folders: [Folder]
    /// Of all objects, also those that are known to be gone or damaged.
    package var tiers: [Tier]
    /// Of those that are.
    package var brokenTiers: [Tier] = []
    /// Archived photos of events, and earlier images of projects, of which nothing is left.
    package var lostBesidePhotos = 0
    package var oldestUnsynced: Unsynced?
    package var lastSyncAt: Date?
    /// `nil` when it was never asked.
    package var store: StoreNote?
    package var restores: Restores

    package init(
        folders: [Folder], tiers: [Tier], oldestUnsynced: Unsynced? = nil, lastSyncAt: Date? = nil,
        store: StoreNote? = nil, restores: Restores = Restores()
    ) {
        self.folders = folders
        self.tiers = tiers
        self.oldestUnsynced = oldestUnsynced
        self.lastSyncAt = lastSyncAt
        self.store = store
        self.restores = restores
    }

    /// Of all active folders.
    package var totals: PhotoTallies { folders.reduce(PhotoTallies()) { $0 + $1.tallies } }
    /// What is stored: without what is gone or damaged.
    package var storedTiers: [Tier] {
        tiers.map { tier in
            guard let broken = brokenTiers.first(where: { $0.storageClass == tier.storageClass }) else { return tier }
            return Tier(
                storageClass: tier.storageClass, objects: tier.objects - broken.objects,
                bytes: tier.bytes - broken.bytes)
        }
    }
    package var bytesStored: Int64 { storedTiers.reduce(0) { $0 + $1.bytes } }
    package var lost: Int { totals[.lost].files + lostBesidePhotos }
}
