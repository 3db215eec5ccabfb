import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Asks the store which objects other machines of the user need: by their catalogues, and by the manifests of vacations that
/// are none of this machine's.
package struct OtherReferences: Sendable {
    /// Why nobody knows of an object that it is not needed.
    package enum Doubt: Hashable, Sendable, CustomStringConvertible {
        case unread(String)
        /// A machine of this name stores for the same user.
        case others(String)

        fileprivate var reference: StoredReference {
            switch self {
            case .unread(let reason): .unread(reason)
            case .others(let name): .others(name)
            }
        }

        package var description: String {
            switch self {
            case .unread(let reason): "whether anybody else needs it is not known: \(reason)"
            case .others(let name): "the machine \(name.escapingControls) stores for the same user, and may need it"
            }
        }
    }

    /// What was found.
    package struct Findings: Sendable {
        fileprivate var references: [ObjectKey: StoredReference] = [:]
        /// Of all others.
        package var doubt: Doubt?

        /// What is known to need an object, or its copy.
        package func known(_ key: ObjectKey) -> StoredReference? { references[key.named] }

        package func reference(to key: ObjectKey) -> StoredReference? { known(key) ?? doubt?.reference }
    }

    /// Seconds without a sign after which a machine whose place this one has taken counts as gone.
    private static let silence: TimeInterval = 30 * 86_400

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let reader: CatalogReader
    private let holdCatalog: CatalogHold
    private let time: TimeSource

    /// - Parameters:
    ///   - spool: a file of this process's.
    ///   - pool: for what waits for the disk.
    ///   - holdCatalog: takes the lock of this machine's catalogue.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, spool: FilePath, pool: BlockingPool,
        holdCatalog: @escaping CatalogHold = { nil }, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.holdCatalog = holdCatalog
        self.time = time
        reader = CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time)
    }

    /// Which of these objects others need.
    /// - Throws: ``LedgerError``, `CancellationError`, and ``StoreError`` when the store as a whole cannot be used.
    package func references(to wanted: some Sequence<ObjectKey>) async throws -> Findings {
        let wanted = Set(wanted.map(\.named))
        return wanted.isEmpty ? Findings() : try await reader.alone { try await referencesAlone(to: wanted) }
    }

    /// Whether other machines have catalogues here: one listing, which reads none of them.
    /// - Throws: ``LedgerError``, ``StoreError``, `CancellationError`.
    func haveCatalogs() async throws -> Bool {
        let status = try await ledger { try $0.catalogStatus() }
        return try await reader.segments().keys.contains { $0 != status.machine }
    }

    /// Which of these objects the catalogues of other machines name, whatever else needs them: also a version, by the
    /// content that a catalogue tells of the key that it is a version of.
    /// - Throws: ``LedgerError``, ``StoreError``, `CancellationError`, and what else keeps a catalogue from being read: then
    ///   nobody knows.
    func named(among wanted: some Sequence<ObjectKey>) async throws -> Set<ObjectKey> {
        let wanted = Set(wanted)
        return wanted.isEmpty ? [] : try await reader.alone { try await namedAlone(among: wanted) }
    }

    private func namedAlone(among wanted: Set<ObjectKey>) async throws -> Set<ObjectKey> {
        var findings = Findings()
        try await reader.rereading { _ in try await searchCatalogs(wanted, &findings) }
        return Set(findings.references.keys)
    }

    private func referencesAlone(to wanted: Set<ObjectKey>) async throws -> Findings {
        var findings = Findings()
        do {
            try await reader.rereading { _ in try await searchCatalogs(wanted, &findings) }
            try await searchManifests(wanted, &findings)
            findings.doubt = try await doubt()
        } catch let error as StoreError where error.mayConcernOneObject {
            findings.doubt = .unread(error.description)
        } catch let error as CatalogError {
            findings.doubt = .unread("the catalogue of another machine: \(error)")
        } catch let error as UnsettledCatalog {
            findings.doubt = .unread(error.description)
        } catch let error as Errno {
            findings.doubt = .unread(reader.problem(error))
        }
        return findings
    }

    // MARK: Machines

    /// A machine that is alive needs more than its catalogue says: what it has stored since, earlier versions of its photos,
    /// all that it has when it keeps none. And a ledger that is older than its own catalogue does not know what was stored
    /// since.
    private func doubt() async throws -> Doubt? {
        let now = time.now()
        let machine = try await ledger { try $0.catalogStatus().machine }
        var own: [CatalogSegment] = []
        var hasNote = false
        var lastSigns: [String: Date] = [:]
        let machines = OtherMachines(store: store, keys: keys)
        for (key, modified) in try await machines.listing(keys.machines) + machines.listing(keys.catalog) {
            let segment = CatalogSegment(key, keys)
            guard let id = segment?.machine ?? keys.machineID(of: key) else { continue }
            if id == machine {
                if let segment { own.append(segment) } else { hasNote = true }
                continue
            }
            lastSigns[id] = max(lastSigns[id] ?? .distantPast, modified ?? now)
        }
        // After the listing: what is written meanwhile, or was interrupted, and is in it is noted by now.
        try await InterruptedCatalogWrite(store: store, ledger: ledger, keys: keys, hold: holdCatalog).finish(at: now)
        let status = try await ledger { try $0.catalogStatus() }
        if own.contains(where: { status.isOlder(than: $0) }) { return .unread(OlderLedger().description) }
        let note = OwnNote(store: store, ledger: ledger, keys: keys)
        if hasNote, try await note.laterWrite() != nil { return .unread(OlderLedger().description) }
        for (id, sign) in lastSigns.sorted(by: { $0.key < $1.key }) {
            let isSilent = sign <= now && now.timeIntervalSince(sign) >= Self.silence
            if status.replaces[id] != nil, isSilent { continue }
            return .others(try await name(of: id))
        }
        return nil
    }

    private func name(of id: String) async throws -> String {
        let bytes = try? await store.bytes(of: keys.machine(id), limit: MachineNote.maximumSize)
        return bytes.flatMap { try? MachineNote(parsing: $0, of: id) }?.name ?? id
    }

    // MARK: Catalogues

    private func searchCatalogs(_ wanted: Set<ObjectKey>, _ findings: inout Findings) async throws {
        let status = try await ledger { try $0.catalogStatus() }
        var machines: [(id: String, name: String, chain: CatalogChain, last: Int)] = []
        var replaced = Replacements(status.replaces)
        for (id, segments) in try await reader.segments().sorted(by: { $0.key < $1.key })
        where id != status.machine {
            let chain = CatalogChain(segments)
            guard let last = chain.segments.last else { continue }
            let header = try await reader.header(of: last)
            replaced.add(header.replaces ?? [:], by: id)
            machines.append((id, header.name, chain, last.to))
        }
        for machine in machines {
            // Another one goes on in its place, and names what was its.
            if replaced.covers(machine.id, last: machine.last) { continue }
            guard machine.chain.gaps.isEmpty else {
                throw CatalogError.damaged("writes of \(machine.name.escapingControls) are missing")
            }
            let names = CatalogedNames(wanted)
            for segment in machine.chain.segments {
                names.begin()
                try await reader.lines(of: segment) { names.take($0) }
            }
            for key in names.keys { findings.references[key] = .machine(machine.name) }
        }
    }

    // MARK: Vacations

    private func searchManifests(_ wanted: Set<ObjectKey>, _ findings: inout Findings) async throws {
        let own = try await ledger { Set(try $0.ownManifests()) }
        let prefix = "users/\(keys.user)/vacations/"
        for key in try await store.all(below: prefix).keys {
            guard let name = key.name(below: prefix).map({ String($0.dropLast(".json".count)) }) else { continue }
            if own.contains(name) { continue }
            for photo in try await photos(ofManifest: key) {
                guard let photo = try? ObjectKey(photo.key), wanted.contains(photo) else { continue }
                if findings.references[photo] == nil { findings.references[photo] = .vacation(name) }
            }
        }
    }

    /// - Returns: nothing where it is gone by now.
    private func photos(ofManifest key: ObjectKey) async throws -> [VacationManifest.Photo] {
        do {
            let bytes = try await store.bytes(of: key, limit: VacationManifest.maximumSize)
            return try VacationManifest(parsing: bytes).photos
        } catch let error as StoreError where error.code == .notFound {
            return []
        } catch let damage as VacationManifest.Damage {
            throw CatalogError.damaged("the manifest \(key): \(damage)")
        }
    }
}

/// Under which of the wanted keys a machine's photos are, as its segments tell it one after the other: the last word about a
/// path counts. Only paths of wanted objects are in memory.
private final class CatalogedNames: Sendable {
    private struct Place: Hashable {
        var folder: FilePath
        var path: FilePath
    }

    private struct State {
        var places: [Place: [ObjectKey]] = [:]
        /// Of open shares, by the last state that was told.
        var shared: Set<ObjectKey> = []
        var folders: [Int64: FilePath] = [:]
    }

    private let wanted: Set<ObjectKey>
    /// Earlier states of what is stored under the names of files.
    private let versions: Set<ObjectKey>
    private let byDigest: [String: ObjectKey]
    private let state = Lock(State())

    init(_ wanted: Set<ObjectKey>) {
        self.wanted = wanted
        versions = wanted.filter(\.isProjectVersion)
        byDigest = Dictionary(
            wanted.map { (String($0.lastSegment.prefix { $0 != "." }), $0) }, uniquingKeysWith: { first, _ in first })
    }

    var keys: Set<ObjectKey> { state.withLock { Set($0.places.values.joined()).union($0.shared) } }

    /// The numbers of folders are those of a segment.
    func begin() { state.withLock { $0.folders = [:] } }

    func take(_ line: CatalogLine) {
        state.withLock { state in
            switch line {
            case .folder(let folder): state.folders[folder.folder] = folder.path.path
            case .photo(let photo):
                guard let folder = state.folders[photo.place.folder] else { return }
                let place = Place(folder: folder, path: photo.place.path)
                let names = objects(of: photo)
                state.places[place] = names.isEmpty ? nil : names
            case .gone(let gone):
                guard let folder = state.folders[gone.folder] else { return }
                state.places[Place(folder: folder, path: gone.path)] = nil
            case .state: state.shared = []
            case .share(let share):
                for photo in share.photos {
                    let key = photo.key.flatMap { try? ObjectKey($0) } ?? byDigest[photo.md5]
                    if let key, wanted.contains(key) { state.shared.insert(key) }
                }
            default: return
            }
        }
    }

    /// Which wanted objects a photo may be stored as. Where another machine has stored a file of its name since, its key
    /// has another content, and its own is in a version: the latest one with it that was made of this file, as for a
    /// rebuild.
    private func objects(of photo: CatalogPhoto) -> [ObjectKey] {
        var found = wanted.contains(photo.key) ? [photo.key] : []
        if !versions.isEmpty, let md5 = photo.md5, let file = photo.key.versionedFile,
            let version = file.candidates(with: md5, among: versions).first
        {
            found.append(version)
        }
        return found
    }
}
