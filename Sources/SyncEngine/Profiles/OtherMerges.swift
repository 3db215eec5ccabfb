package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// A merge of profiles on another machine of the user, as its catalogue tells it.
package struct OtherMerge: Hashable, Sendable {
    /// What people call the machine.
    package let machine: String
    /// As they stand in keys.
    package let profile: String
    package let into: String
    /// It has not begun: that machine looks first whether another one does the opposite.
    package let isAnnounced: Bool
}

/// Reads what the user's other machines have merged.
package struct OtherMerges: Sendable {
    /// Why it is not known what another machine merges.
    package enum Doubt: Error, Hashable, Sendable, CustomStringConvertible {
        /// Its catalogue cannot be read: what is wrong with it.
        case unread(String)
        /// This machine keeps no catalogue, and another one, by its id, may merge, too.
        case untold(String)

        package var description: String {
            switch self {
            case .unread(let reason):
                "what another machine merges cannot be read, and nothing was merged: \(reason). Sync there, or have this "
                    + "machine take its place (sync-agent rebuild --machine)"
            case .untold(let machine):
                "the machine \(machine.escapingControls) stores for the same user and has to know of a merge, which "
                    + "store.catalog: off keeps from it; set it to on, and merge then"
            }
        }
    }

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let states: OtherStates

    /// - Parameters:
    ///   - spool: a file of this process's, of one such look at a time.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, spool: FilePath, pool: BlockingPool,
        time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        states = OtherStates(
            reader: CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time))
    }

    /// The same by way of a store that sees what is asked.
    func reading(_ store: any ReadableStore) -> OtherMerges {
        let reader = states.reader
        return OtherMerges(
            store: store, ledger: ledger, keys: keys, spool: reader.spool, pool: reader.pool, time: reader.time)
    }

    /// As far as they will ever be read.
    /// - Throws: ``StoreError`` when something of them cannot be read now; ``LedgerError``, `CancellationError`.
    func readable() async throws -> [OtherMerge] {
        let found = try await states.read()
        // A photo that was moved would be taken for lost.
        if let error = found.passing { throw error }
        return merges(found)
    }

    /// All of them.
    /// - Parameter tells: whether this machine's catalogue tells the others of its own.
    /// - Throws: ``Doubt``, ``StoreError``, ``LedgerError``, `CancellationError`.
    package func all(tells: Bool) async throws -> [OtherMerge] {
        if !tells {
            let status = try await ledger { try $0.catalogStatus() }
            let others = try await OtherMachines(store: store, keys: keys).lastSigns().keys.filter {
                $0 != status.machine && status.replaces[$0] == nil
            }
            if let machine = others.min() { throw Doubt.untold(machine) }
        }
        let found = try await states.read()
        if let unread = found.unread.first { throw Doubt.unread("\(unread)") }
        return merges(found)
    }

    private func merges(_ found: OtherStates.Findings) -> [OtherMerge] {
        found.machines.flatMap { machine in
            machine.state.profiles.flatMap { line -> [OtherMerge] in
                guard let profile = CatalogProfile.keyName(line.profile) else { return [] }
                return [(line.into, false), (line.announced, true)].compactMap { into, isAnnounced in
                    into.flatMap(CatalogProfile.keyName).map {
                        OtherMerge(machine: machine.header.name, profile: profile, into: $0, isAnnounced: isAnnounced)
                    }
                }
            }
        }
    }
}

/// How machines of one user see to it that no two merges of theirs lead in a circle: each would move photos away that the
/// other one has just proven, and remove its own.
///
/// A merge is told before it begins, and all others are read after that. Of two that are told at the same time, the one that
/// reads last sees the other; both may see each other, and then neither begins.
package struct MergeAgreement: Sendable {
    let others: @Sendable () async throws -> [OtherMerge]
    let publish: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - others: reads what other machines have merged or announced.
    ///   - publish: stores this machine's catalogue as its ledger is now. It throws where the store does not prove it.
    package init(
        others: @escaping @Sendable () async throws -> [OtherMerge],
        publish: @escaping @Sendable () async throws -> Void
    ) {
        self.others = others
        self.publish = publish
    }

    /// - Parameters:
    ///   - profiles: whose photos are to be moved.
    ///   - other: where they are to be moved to.
    ///   - own: all merges of this machine.
    /// - Throws: ``MergeConflict``; what reading the others throws.
    func require(_ profiles: [String], into other: String, beside own: [ByteString: String]) async throws {
        let merges = try await others()
        if let conflict = MergeConflict(profiles, into: other, own, merges) { throw conflict }
    }
}

/// Another machine has merged the other way round.
package struct MergeConflict: Error, Hashable, Sendable, CustomStringConvertible {
    package let other: OtherMerge

    /// `nil` where no way leads back from `other` to one of the profiles.
    init?(_ profiles: [String], into other: String, _ own: [ByteString: String], _ merges: [OtherMerge]) {
        let ends = Set(profiles.map(\.inBytes))
        let next = Dictionary(grouping: merges, by: \.profile.inBytes)
        var seen: Set<ByteString> = [other.inBytes]
        // With the first merge of another machine on the way.
        var open: [(place: ByteString, first: OtherMerge?)] = [(other.inBytes, nil)]
        while let (place, first) = open.popLast() {
            if ends.contains(place), let first {
                self.other = first
                return
            }
            var steps = (next[place] ?? []).map { ($0.into.inBytes, first ?? $0) as (ByteString, OtherMerge?) }
            if let into = own[place] { steps.append((into.inBytes, first)) }
            open += steps.filter { seen.insert($0.0).inserted }
        }
        return nil
    }

    package var description: String {
        let merge = "\(other.profile.escapingControls) into \(other.into.escapingControls)"
        let machine = "the machine \(other.machine.escapingControls)"
        let advice = "merge \(merge) here, too (sync-agent profiles merge)"
        return other.isAnnounced
            ? "\(machine) is about to merge \(merge), which leads the other way round; nothing was merged. Wait for it and "
                + "\(advice), or, where it came to nothing, run it there to its end"
            : "\(machine) has merged \(merge), which leads the other way round; nothing was merged. Instead, \(advice)"
    }
}

/// Finds archived photos that are not under the key that this ledger has for them, because a machine of the user has made
/// their profile another one's.
package struct MergedPhotos: Sendable {
    fileprivate let store: any ReadableStore
    fileprivate let ledger: LedgerQueue
    fileprivate let keys: KeyLayout
    fileprivate let others: OtherMerges

    package init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherMerges) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.others = others
    }

    /// The same by way of a store that sees what is asked.
    func reading(_ store: any ReadableStore) -> MergedPhotos {
        MergedPhotos(store: store, ledger: ledger, keys: keys, others: others.reading(store))
    }

    /// A look at photos that are missing, one after the other or at once: what was merged is read with the first of them.
    package func lookup() -> MergedPhotosLookup { MergedPhotosLookup(photos: self) }
}

/// What ``MergedPhotos/lookup()`` gives.
package struct MergedPhotosLookup: Sendable {
    fileprivate let photos: MergedPhotos
    private let merges = Lock<[ByteString: [String]]?>(nil)
    private let reading = Slots(1)

    /// Whose what was of a profile may be by now, the nearest first.
    /// - Parameter profile: as it stands in keys.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func successors(of profile: String) async throws -> [String] {
        let next = try await known()
        let first = CatalogProfile.keyName(profile) ?? profile
        var (found, seen) = ([String](), Set([first.inBytes]))
        var open = [first]
        while !open.isEmpty {
            open = open.flatMap { next[$0.inBytes] ?? [] }.filter { seen.insert($0.inBytes).inserted }
            found += open
        }
        return found
    }

    private func known() async throws -> [ByteString: [String]] {
        try await reading.withSlot {
            if let merges = merges.withLock({ $0 }) { return merges }
            var found = try await photos.ledger { try $0.profileNotes().merges }.mapValues { [$0] }
            for merge in try await photos.others.readable() {
                found[merge.profile.inBytes, default: []].append(merge.into)
            }
            let next = found
            merges.withLock { $0 = next }
            return next
        }
    }

    /// A photo that the store does not have under its key, where it is now. It has to have the same bytes.
    /// - Returns: `nil` where it is not found.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func find(_ lost: ObjectRecord) async throws -> (object: ObjectRecord, profile: String)? {
        guard let place = ArchivedPhotoPlace(lost.key, of: photos.keys), let sha256 = lost.sha256 else { return nil }
        for profile in try await successors(of: place.profile) {
            // As ``ArchivedPhotoMover`` names it.
            let names = [nil, lost.md5, lost.storedMD5].map { md5 in
                try? photos.keys.archivedPhoto(
                    profile: profile, month: place.month, event: place.eventID, besides: md5)
            }
            for key in names.compactMap(\.self) {
                guard let info = try await photos.store.head(key), info.size == lost.size,
                    try await holds(info, sha256)
                else { continue }
                var object = ObjectRecord(info)
                object.sha256 = sha256
                object.md5 = lost.md5 ?? object.md5
                return (object, profile)
            }
        }
        return nil
    }

    /// The same, and the ledger has it there from then on, with what was signed off of it.
    /// - Returns: as it is known now; `nil` where it is not found.
    func follow(_ lost: ObjectRecord) async throws -> ObjectRecord? {
        guard let (object, profile) = try await find(lost) else { return nil }
        try await photos.ledger.finish { try $0.moveArchivedPhoto(lost.key, to: object, profile: profile) }
        return object
    }

    private func holds(_ info: ObjectInfo, _ sha256: SHA256Digest) async throws -> Bool {
        let isRuin = try await photos.ledger.knowsAsRuin(info.key)
        return switch try await ObjectReadback(photos.store).claim(of: info, isRuin: isRuin) {
        case .proven(let proven): proven == sha256
        // It is archived: whoever stored it there had proved it.
        case .unprovable: info.claimedSHA256 == sha256
        case .contradicted: false
        case .none: info.sha256 == sha256
        }
    }
}
