package import FoundationEssentials
package import SyncCore

/// A store together with what the contract suite has to know of it.
package struct StoreUnderTest: Sendable {
    /// Promises that a server does not keep although our adapter does its part. Each store states its own, and its clause
    /// then asserts what is left of the promise.
    package enum Gap: String, Hashable, Sendable, CaseIterable {
        /// The server takes bodies whose digests are wrong (moto compares neither Content-MD5 nor SHA-256). What is left:
        /// the adapter sees it by the server's answer and throws, or its receipt tells the digest of what is stored.
        case storesWrongDigest
        /// The server proves no SHA-256 of its own. What is left: the adapter claims none.
        case provesNoSHA256
        /// The server ignores `If-None-Match`, and a put that fails beside another takes that one's object along
        /// (rclone). What is left: what was there before is not overwritten; after a race there is one that won, whole,
        /// or nothing, and then the next put is stored.
        case losesRaces
        /// The server looks whether anything is there, and then puts: of threads that race several may see nothing (moto).
        /// What is left: what is stored is of one that won, whole, and the next put is refused.
        case looksBeforeItPuts
        /// The server gives out archived objects like any other (Ceph, rclone). What is left: the bytes are right.
        case readsArchived
        /// A copy gets metadata of the server's beside its own, and one in place loses all that it had (rclone). What is
        /// left: the bytes are right, and elsewhere its own metadata are there.
        case copiesChangeAttributes
        /// The server knows no RestoreObject (Ceph, rclone). What is left: `.unsupported`.
        case restoresNothing
        /// A restore is done as soon as it is asked for, and never under way (moto). What is left: the object is
        /// readable, and asking again is accepted.
        case restoresAtOnce
        /// The server keeps no lifecycle rules (rclone). What is left: `.unsupported`.
        case keepsNoRules
        /// The server forgets the sizes in rules (Ceph 16, moto). What is left: the rules come back without them.
        case forgetsRuleSizes
        /// A listing calls every class STANDARD (rclone). What is left: keys and sizes are right.
        case listsNoClasses
        /// Keys are paths of a file system (rclone): no object below another's key. What is left: the put is refused,
        /// and what was there stays.
        case keysArePaths
        /// No part of a key between slashes is longer than 255 bytes (rclone). What is left: the put is refused.
        case shortNames
    }

    package let name: String
    package let store: any ObjectStore
    package let gaps: Set<Gap>
    /// What every key of the suite begins with: many tests may share one bucket.
    package let prefix: String
    /// For bodies that are files.
    package let tree: TemporaryTree
    /// The store's clock.
    package let clock: Clock
    /// Reads an address as anybody can, and throws unless the answer is 200; `nil` where nothing has addresses.
    package let fetch: (@Sendable (_ url: String) async throws -> [UInt8])?

    /// A clock that the suite can wait by.
    package struct Clock: Sendable {
        package let now: @Sendable () -> Date
        /// Lets so much time pass. A clock that is moved by hand does so at once.
        package let advance: @Sendable (Duration) async throws -> Void
        package let isMovedByHand: Bool

        package init(
            now: @escaping @Sendable () -> Date, isMovedByHand: Bool,
            advance: @escaping @Sendable (Duration) async throws -> Void
        ) {
            self.now = now
            self.isMovedByHand = isMovedByHand
            self.advance = advance
        }

        package static func manual(_ time: ManualTime) -> Clock {
            Clock(now: { time.now }, isMovedByHand: true, advance: { await time.advance(by: $0) })
        }

        /// For servers in other processes: there is nothing else to wait for.
        package static let wall = Clock(
            now: { Date() }, isMovedByHand: false, advance: { try await Task.sleep(for: $0) })
    }

    package init(
        name: String, store: any ObjectStore, gaps: Set<Gap> = [], prefix: String, tree: TemporaryTree, clock: Clock,
        fetch: (@Sendable (_ url: String) async throws -> [UInt8])? = nil
    ) {
        self.name = name
        self.store = store
        self.gaps = gaps
        self.prefix = prefix
        self.tree = tree
        self.clock = clock
        self.fetch = fetch
    }

    func key(_ name: String) throws -> ObjectKey {
        try ObjectKey("\(prefix)/\(name)")
    }

    /// Stores a short text.
    @discardableResult
    func put(
        _ text: String, at key: ObjectKey, _ condition: PutCondition = .overwrite,
        storageClass: StorageClass = .standard
    ) async throws -> PutReceipt {
        try await store.put(
            ObjectBody(text), at: key,
            attributes: ObjectAttributes(contentType: "text/plain", storageClass: storageClass), condition: condition)
    }

    func text(at key: ObjectKey) async throws -> String {
        String(decoding: try await store.bytes(of: key), as: UTF8.self)
    }
}

/// A broken promise, told by the contract suite.
package struct ContractViolation: Error, CustomStringConvertible {
    package let description: String
}

func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws {
    guard condition else { throw ContractViolation(description: promise()) }
}

func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
    guard found == expected else {
        throw ContractViolation(description: "\(what): expected \(expected), found \(found)")
    }
}

/// `body` has to throw ``StoreError`` with one of `codes`.
func requireError(
    _ codes: StoreError.Code..., from what: String, _ body: () async throws -> Void
) async throws {
    do {
        try await body()
    } catch let error as StoreError {
        guard codes.contains(error.code) else {
            throw ContractViolation(description: "\(what): expected \(codes), found \(error.code): \(error)")
        }
        return
    }
    throw ContractViolation(description: "\(what): expected \(codes), and nothing was thrown")
}
