package import FoundationEssentials
package import SyncCore
import SyncSystem

/// The part of a store where one `doctor` tries things: `users/{user}/doctor-{16 hexadecimal digits}/`.
package final class ScratchFolder: Sendable {
    /// Seconds. What an earlier doctor left is nobody's any more by then.
    private static let leftoverAge: TimeInterval = 3_600

    package let prefix: String
    private let store: any ObjectStore
    /// The beginning of all such folders of the user.
    private let family: String
    private let made = Mutex<Set<ObjectKey>>([])

    package init(_ store: any ObjectStore, user: String, id: UInt64) {
        self.store = store
        family = "users/\(user)/doctor-"
        let digits = String(id, radix: 16)
        prefix = family + String(repeating: "0", count: 16 - digits.count) + digits + "/"
    }

    /// A key in the folder. Whatever comes to be stored under it is removed by ``empty()``.
    package func key(_ name: String) throws(InvalidName) -> ObjectKey {
        let key = try ObjectKey(prefix + name)
        made.withLock { keys in _ = keys.insert(key) }
        return key
    }

    /// Removes all that is in the folder: also what a listing does not show, since some servers lose keys there.
    /// - Returns: what is still there afterwards.
    package func empty() async throws -> [ObjectKey] {
        var keys = made.withLock { $0 }
        for object in try await objects(below: prefix) { keys.insert(object.key) }
        let failures = try await store.delete(Array(keys))
        return Array(try await Set(objects(below: prefix).map(\.key)).union(failures.keys))
    }

    /// Removes what earlier doctors could not.
    /// - Returns: how many objects.
    package func removeLeftovers(now: Date) async throws -> Int {
        let limit = now.addingTimeInterval(-Self.leftoverAge)
        let leftovers = try await objects(below: family).filter { object in
            !object.key.rawValue.hasPrefix(prefix) && (object.modified.map { $0 < limit } ?? false)
        }
        return leftovers.count - (try await store.delete(leftovers.map(\.key)).count)
    }

    private func objects(below prefix: String) async throws -> [ObjectInfo] {
        var objects: [ObjectInfo] = []
        for try await page in store.pages(prefix: prefix) { objects += page }
        return objects
    }
}
