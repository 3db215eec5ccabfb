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
    private let made = Lock<Set<ObjectKey>>([])

    package init(_ store: any ObjectStore, user: String, id: UInt64) {
        self.store = store
        family = "users/\(user)/doctor-"
        prefix = family + id.padded(to: 16, radix: 16) + "/"
    }

    /// A key in the folder. Whatever comes to be stored under it is removed by ``empty()``.
    package func key(_ name: String) throws(InvalidName) -> ObjectKey {
        let key = try ObjectKey(prefix + name)
        made.withLock { keys in _ = keys.insert(key) }
        return key
    }

    /// The name of an object that tells of a share at which things are tried. It is there before the share's objects
    /// are: whoever removes it removes them.
    static func note(of share: ShareID) -> String { noteBeginning + "\(share)" }

    /// What is tried at a share that is none.
    static func trials(_ keys: ShareKeys) -> [ObjectKey] { [keys.guest(0), keys.page] }

    private static let noteBeginning = "share-"

    /// What a note tells of; nothing for every other object.
    private static func trials(notedBy key: ObjectKey) -> [ObjectKey] {
        let name = String(key.lastSegment)
        guard name.hasPrefix(noteBeginning), let share = ShareID(String(name.dropFirst(noteBeginning.count))) else {
            return []
        }
        return trials(ShareKeys(share))
    }

    /// Whether it is still there: a note stays with what it tells of.
    private static func isLeft(_ key: ObjectKey, by failures: [ObjectKey: StoreError]) -> Bool {
        failures[key] != nil || trials(notedBy: key).contains { failures[$0] != nil }
    }

    /// Deletes objects of such folders, and before them what they tell of.
    private func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        let noted = keys.flatMap(Self.trials(notedBy:))
        var failures = noted.isEmpty ? [:] : try await store.delete(noted)
        let others = keys.filter { !Self.isLeft($0, by: failures) }
        if others.isEmpty { return failures }
        let more = try await store.delete(others)
        failures.merge(more) { $1 }
        return failures
    }

    /// Removes all that is in the folder: also what a listing does not show, since some servers lose keys there, and
    /// before it is asked for one, which may be denied.
    /// - Returns: what is still there afterwards, and why.
    package func empty() async throws -> [ObjectProblem] {
        let keys = made.withLock { $0 }
        var failures = try await delete(Array(keys))
        let listed = try await store.all(below: prefix).keys
        let again = try await delete(listed)
        for key in listed.flatMap({ Self.trials(notedBy: $0) + [$0] }) { failures[key] = again[key] }
        let left = listed.isEmpty ? [] : try await store.all(below: prefix).keys
        for key in left where !Self.isLeft(key, by: failures) {
            failures[key] = StoreError(
                .conflict, operation: "delete", key: key.rawValue,
                message: "the store says that it is gone, and lists it")
        }
        return Self.problems(failures)
    }

    /// Removes what earlier doctors could not.
    /// - Returns: how many objects of their folders; and what is still there, and why.
    package func removeLeftovers(now: Date) async throws -> (removed: Int, left: [ObjectProblem]) {
        let limit = now.addingTimeInterval(-Self.leftoverAge)
        let leftovers = try await store.all(below: family).objects.filter { object in
            !object.key.isBelow(prefix) && (object.modified.map { $0 < limit } ?? false)
        }
        let failures = try await delete(leftovers.map(\.key))
        let left = leftovers.filter { Self.isLeft($0.key, by: failures) }
        return (leftovers.count - left.count, Self.problems(failures))
    }

    private static func problems(_ failures: [ObjectKey: StoreError]) -> [ObjectProblem] {
        failures.sorted { $0.key < $1.key }.map { ObjectProblem(key: $0.key, error: $0.value) }
    }
}
