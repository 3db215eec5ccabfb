package import SyncCore
import SyncDigest
import SyncSystem

/// Tries what a store promises, through the port, with objects in a scratch folder. Each function says one thing; all
/// throw `CancellationError` only, and what the scratch folder's names are refused for.
package struct StoreChecks: Sendable {
    let store: any ObjectStore
    let scratch: ScratchFolder

    package init(_ store: any ObjectStore, scratch: ScratchFolder) {
        self.store = store
        self.scratch = scratch
    }

    /// What stands under every key that the probe makes.
    static let bytes = Array("sync-agent doctor: this object can be deleted. 0123456789\n".utf8)
    /// Characters that clients, servers and proxies between them get wrong.
    static let awkwardName = "Zürich 春/a+b c%20d~e&f=g#h;i,j'(1)'@!$.jpg"
    /// As well, and no file of FAT, exFAT and NTFS has them in its name.
    static let foreignName = "a?b*c:d.jpg"
    static let attributes = ObjectAttributes(contentType: "text/plain", metadata: ["about": "Größe: 100 % + more"])

    /// Puts, reads, looks at, lists and deletes one object.
    package func objects() async throws -> Finding {
        try await finding("objects") { name in
            if let trouble = try await roundTrip("plain.txt") { return trouble(name) }
            return .ok(name, "stored, read, listed and deleted, with type and metadata")
        }
    }

    /// The same under a name that has to be escaped, and whether two names that differ in capitals alone are two.
    package func keys() async throws -> Finding {
        try await finding("keys") { name in
            if let trouble = try await roundTrip(Self.awkwardName) { return trouble(name) }
            let (first, second) = (try await stored("capitals.txt"), try scratch.key("CAPITALS.txt"))
            let other = Array("of another name".utf8)
            do {
                _ = try await store.put(
                    ObjectBody(bytes: other, digest: ContentDigest(of: other)), at: second,
                    attributes: Self.attributes, condition: .ifAbsent)
            } catch let error as StoreError where isRefusalOfTwin(error) {
                return .limited(
                    name, "its disk ignores capitals: of two names such as AbC and abc, the second is not stored",
                    instead: "sync names what is not stored; take the store to another disk (sync-agent move-store)")
            }
            guard try await read(first, nil) == Self.bytes, try await read(second, nil) == other else {
                return .wrong(
                    name, "its disk ignores capitals: of two names such as AbC and abc, one replaces the other",
                    remedy: Self.faultyServer)
            }
            return .ok(name, "spaces, capitals, +, %, &, # and other scripts are kept as they are")
        }
    }

    /// The same under a name that not every disk takes.
    package func characters() async throws -> Finding {
        try await finding("characters") { name in
            do {
                if let trouble = try await roundTrip(Self.foreignName) { return trouble(name) }
            } catch let error as StoreError where error.code == .invalidRequest && error.isOfThisMachine {
                return .limited(
                    name, "its disk does not allow ?, *, : and others (\" < > | \\) in names of files",
                    instead: "an image of a project with one in its name waits, and status says why; take the store "
                        + "to another disk (sync-agent move-store)")
            }
            return .ok(name, "?, * and : are kept as they are")
        }
    }

    /// Whether a put says that another name has the place. The embedded store says so in its own words; what a server
    /// calls an invalid request may be anything.
    private func isRefusalOfTwin(_ error: StoreError) -> Bool {
        error.code == .alreadyExists || error.code == .invalidRequest && store.capabilities.lifecycle == .byAgent
    }

    package func ranges() async throws -> Finding {
        try await finding("ranges") { name in
            let key = try await stored("ranges.txt")
            let part: Range<Int64> = 5..<20
            guard try await read(key, part) == Array(Self.bytes[5..<20]) else {
                return .wrong(name, "a part of an object is not what was stored there", remedy: Self.faultyServer)
            }
            return .ok(name, "interrupted downloads go on where they stopped")
        }
    }

    /// Whether what is there is left alone by a put that must not replace it.
    package func conditionalPuts() async throws -> Finding {
        try await finding("conditional-puts") { name in
            let key = try await stored("condition.txt")
            let other = Array("another".utf8)
            do {
                _ = try await store.put(
                    ObjectBody(bytes: other, digest: ContentDigest(of: other)), at: key, attributes: Self.attributes,
                    condition: .ifAbsent)
            } catch let error as StoreError where error.code == .alreadyExists {
                return .ok(name, "what is stored is never replaced by accident")
            }
            return .wrong(name, "an object was replaced that had to stay", remedy: Self.faultyServer)
        }
    }

    /// Whether bytes that are not those of their digest are refused.
    package func integrity() async throws -> Finding {
        try await finding("integrity") { name in
            let key = try scratch.key("damaged.txt")
            do {
                _ = try await store.put(
                    ObjectBody(bytes: Self.bytes, digest: ContentDigest(of: [])), at: key, attributes: Self.attributes,
                    condition: .ifAbsent)
            } catch let error as StoreError where error.code == .badDigest {
                return .ok(name, "damaged bytes are refused")
            }
            return .wrong(name, "damaged bytes were stored", remedy: Self.faultyServer)
        }
    }

    package func deleteMany() async throws -> Finding {
        try await finding("delete-many") { name in
            let keys = [try await stored("many-1.txt"), try await stored("many 2.txt")]
            if let failure = try await store.delete(keys).values.first { throw failure }
            for key in keys where try await store.head(key) != nil {
                return .wrong(name, "objects are still there after they were deleted", remedy: Self.faultyServer)
            }
            return .ok(name, "many objects are deleted at once")
        }
    }

    /// - Parameter fetch: reads a link as anyone would, without credentials; `nil` for a store that has none.
    package func links(_ fetch: (@Sendable (StoreLink) async throws -> [UInt8])?) async throws -> Finding {
        try await finding("links") { name in
            guard store.capabilities.links, let fetch else {
                return .limited(
                    name, "the store has no links that others can open",
                    instead: "shares go by their ids, or by share.public_base_url")
            }
            let key = try await stored("link test.txt")
            let link = try await store.link(to: key, lasting: .seconds(60))
            guard try await fetch(link) == Self.bytes else {
                return .wrong(name, "a link does not lead to its object", remedy: Self.faultyServer)
            }
            return .ok(name, "links open without credentials, and end")
        }
    }

    // MARK: Steps

    static let faultyServer = "do not keep photos in this store; tell whoever runs it"

    func finding(_ name: String, _ body: (String) async throws -> Finding) async throws -> Finding {
        do {
            return try await body(name)
        } catch let error as StoreError {
            return .wrong(name, error)
        }
    }

    /// - Returns: what is wrong; `nil` when nothing is.
    private func roundTrip(_ name: String) async throws -> ((String) -> Finding)? {
        func trouble(_ detail: String) -> (String) -> Finding {
            { .wrong($0, detail, remedy: Self.faultyServer) }
        }
        let key = try await stored(name)
        guard try await read(key, nil) == Self.bytes else { return trouble("what is read is not what was stored") }
        guard let info = try await store.head(key), info.size == Int64(Self.bytes.count) else {
            return trouble("the size that the store tells is not that of the object")
        }
        guard info.contentType == Self.attributes.contentType, info.metadata == Self.attributes.metadata else {
            return trouble("type or metadata of an object are lost")
        }
        guard try await listed(key) != nil else { return trouble("a listing leaves out an object that is there") }
        try await store.delete(key)
        guard try await store.head(key) == nil else { return trouble("an object is still there after it was deleted") }
        return nil
    }

    /// An object of the scratch folder.
    func stored(_ name: String, storageClass: StorageClass = .standard) async throws -> ObjectKey {
        let key = try scratch.key(name)
        var attributes = Self.attributes
        attributes.storageClass = storageClass
        _ = try await store.put(
            ObjectBody(bytes: Self.bytes, digest: ContentDigest(of: Self.bytes)), at: key, attributes: attributes,
            condition: .ifAbsent)
        return key
    }

    func read(_ key: ObjectKey, _ range: Range<Int64>?) async throws -> [UInt8] {
        let received = Lock<[UInt8]>([])
        _ = try await store.get(key, range: range) { bytes in received.withLock { $0 += bytes } }
        return received.withLock { $0 }
    }

    /// What a listing says of an object.
    func listed(_ key: ObjectKey) async throws -> ObjectInfo? {
        try await store.list(prefix: key.rawValue, after: nil, limit: 10).objects.first { $0.key == key }
    }
}

/// What `doctor` says of one thing.
package struct Finding: Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case ok
        /// It works otherwise than it could; the remedy tells what is done instead.
        case limited
        /// It does not work; the remedy tells what to do.
        case wrong
    }

    /// Stable, for programs: `watched-folder`, `conditional-puts`.
    package var name: String
    package var state: State
    /// What was found.
    package var detail: String
    /// `nil` when all is well.
    package var remedy: String?
    /// What makes it wrong, for the exit code.
    package var cause: (any Error)?

    package static func ok(_ name: String, _ detail: String) -> Finding {
        Finding(name: name, state: .ok, detail: detail)
    }

    package static func limited(_ name: String, _ detail: String, instead: String) -> Finding {
        Finding(name: name, state: .limited, detail: detail, remedy: instead)
    }

    /// Of what an earlier check was to tell first, which could not be tried itself: nothing is known of it.
    /// - Parameter earlier: its name.
    package static func notTried(_ name: String, since earlier: String) -> Finding {
        .limited(
            name, "not tried, since \(earlier) could not be tried",
            instead: "mend what \(earlier) says, and run doctor again")
    }

    package static func wrong(_ name: String, _ detail: String, remedy: String, cause: (any Error)? = nil) -> Finding {
        Finding(name: name, state: .wrong, detail: detail, remedy: remedy, cause: cause)
    }

    /// - Parameter otherwise: the remedy when the message names none.
    package static func wrong(_ name: String, message: String, otherwise: String, cause: any Error) -> Finding {
        let parts = Advice(message)
        return wrong(name, parts.reason, remedy: parts.remedy ?? otherwise, cause: cause)
    }

    package static func wrong(_ name: String, _ error: StoreError) -> Finding {
        var parts = Advice(error.message)
        if let detail = error.detail { parts.reason += " (\(detail))" }
        let otherwise =
            error.isTransient
            ? "try again; when it stays so, look at the server and its log"
            : "look at the server's configuration and log"
        return wrong(name, "\(error.operation): \(parts.reason)", remedy: parts.remedy ?? otherwise, cause: error)
    }
}

/// A message of ours in two: the reason, and the next step after the first semicolon. Where reasons are a list of their
/// own, the next step begins with "To go on,".
package struct Advice: Hashable, Sendable {
    package var reason: String
    package var remedy: String?

    package init(_ message: String) {
        if let end = message.firstRange(of: ". To go on, ") ?? message.firstRange(of: "; ") {
            reason = String(message[..<end.lowerBound])
            remedy = String(message[end.upperBound...])
        } else {
            reason = message
        }
    }
}
