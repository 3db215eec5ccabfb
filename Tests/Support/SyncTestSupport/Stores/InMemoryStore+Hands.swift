package import FoundationEssentials
package import SyncCore
import SyncSystem

/// What tests do to it behind the back of its users.
extension InMemoryStore {
    /// Another store that holds the same at this moment. Its lifecycle rules are none.
    package func copy() -> InMemoryStore {
        let copy = InMemoryStore(now: now, restoreDuration: restoreDuration)
        let held = entries.withLock(\.self)
        copy.entries.withLock { $0 = held }
        return copy
    }

    /// All keys, in order.
    package var keys: [ObjectKey] { entries.withLock { $0.keys.sorted() } }

    /// What is stored under a key, as `head` tells it.
    package func info(_ key: ObjectKey) -> ObjectInfo? { entries.withLock { $0[key]?.info(at: now()) } }

    package func content(_ key: ObjectKey) -> [UInt8]? { entries.withLock { $0[key]?.bytes } }

    /// The tier that was last asked for, of a restore that runs or is done.
    package func restoreTier(_ key: ObjectKey) -> RestoreTier? { entries.withLock { $0[key]?.restore?.tier } }

    /// Moves an object to another class, as a lifecycle rule does, with a restore state. `.inProgress` lasts until this is
    /// called again.
    package func setClass(_ storageClass: StorageClass, restore: RestoreState = .none, of key: ObjectKey) {
        let restore: Entry.Restore? =
            switch restore {
            case .none: nil
            case .inProgress: Entry.Restore(readyAt: .distantFuture, tier: .standard)
            case .restored(let end): Entry.Restore(readyAt: .distantPast, expiresAt: end, tier: .standard)
            }
        entries.withLock { entries in
            entries[key]?.info.storageClass = storageClass
            entries[key]?.restore = restore
        }
    }

    /// The object comes into an archive tier of its class, which only HEAD tells.
    package func moveToArchiveTier(_ key: ObjectKey) {
        entries.withLock { entries in
            entries[key]?.info.storageClass = .intelligentTiering
            entries[key]?.info.isInArchiveTier = true
        }
    }

    /// The object gets another mark, as a copy in another store has.
    package func remark(_ key: ObjectKey, as etag: String) {
        entries.withLock { $0[key]?.info.etag = etag }
    }

    /// The object was stored at another time.
    package func redate(_ key: ObjectKey, to time: Date) {
        entries.withLock { $0[key]?.info.modified = time }
    }

    /// What is known of the object cannot be read any more: listings have it as a problem.
    package func makeUnreadable(_ key: ObjectKey, as code: StoreError.Code = .badDigest) {
        entries.withLock { $0[key]?.unreadable = code }
    }

    /// Listings have it as before ``makeUnreadable(_:as:)``.
    package func makeReadable(_ key: ObjectKey) {
        entries.withLock { $0[key]?.unreadable = nil }
    }

    /// The object is gone, and nobody asked for it.
    package func lose(_ key: ObjectKey) {
        entries.withLock { _ = $0.removeValue(forKey: key) }
    }

    /// What was lost is there again, as another store has it.
    package func recover(_ key: ObjectKey, from other: InMemoryStore) {
        let entry = other.entries.withLock { $0[key] }
        entries.withLock { $0[key] = entry }
    }

    /// Flips a bit of the stored bytes, as a bad disk does.
    package func damage(_ key: ObjectKey) {
        entries.withLock { entries in
            guard let count = entries[key]?.bytes.count, count > 0 else { return }
            entries[key]?.bytes[count / 2] ^= 1
        }
    }
}
