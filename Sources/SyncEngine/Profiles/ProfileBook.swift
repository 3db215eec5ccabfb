import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncLedger

/// Finds the profile that is meant: by its id, a telephone number in any spelling, or its name.
package struct ProfileBook: Sendable {
    package enum Owner: Hashable, Sendable {
        case known(ProfileRecord)
        /// A telephone number that no profile has.
        case orphan(PhoneNumber)
        /// What may be a telephone number, and cannot be read: it waits.
        case unread
        /// An id that may hold a telephone number: in keys stands its pseudonym.
        case doubtful(pseudonym: String)
        /// An id that is no telephone number: it is the profile's own.
        case id
        /// All of it is that of another profile, which goes by an id.
        case merged(into: String)
    }

    /// Those with a number, merged ones included.
    package let profiles: [ProfileRecord]
    package let notes: ProfileNotes
    private let phones: any PhoneNumbers
    private let region: String?
    private let pseudonyms: Pseudonyms
    private let words: ArchiveWords

    /// - Parameters:
    ///   - region: whose numbers may be written without a country code; `nil` when each has to have one.
    ///   - pseudonyms: of this machine's ledger.
    package init(
        _ profiles: [ProfileRecord], notes: ProfileNotes = ProfileNotes(), phones: any PhoneNumbers, region: String?,
        pseudonyms: Pseudonyms
    ) {
        self.profiles = profiles
        self.notes = notes
        self.phones = phones
        self.region = region
        self.pseudonyms = pseudonyms
        words = ArchiveWords(phones: phones, region: region)
    }

    /// The same, with other names and merges.
    func with(_ notes: ProfileNotes) -> ProfileBook {
        ProfileBook(profiles, notes: notes, phones: phones, region: region, pseudonyms: pseudonyms)
    }

    /// Whose an event, or a key, is, after all merges.
    /// - Parameter profile: as the event gives it, or as it is in the key.
    package func owner(of profile: String) -> Owner {
        let first = givenOwner(of: profile)
        guard let key = keyName(first, of: profile), let into = notes.merges[key.inBytes] else { return first }
        return profiles.first { $0.uuid.inBytes == into.inBytes }.map { .known($0) } ?? .merged(into: into)
    }

    /// Before any merge.
    func givenOwner(of profile: String) -> Owner {
        if let known = profiles.first(where: { $0.uuid == profile.lowercased() }) { return .known(known) }
        switch phones.identity(ofProfile: profile, region: region) {
        case .id: return .id
        case .unreadNumber: return .unread
        case .doubtful: return .doubtful(pseudonym: pseudonyms.profile(profile))
        case .number(let number):
            return profiles.first { $0.phone == number }.map { .known($0) } ?? .orphan(number)
        }
    }

    /// What stands in keys before any merge; `nil` for a number without a profile.
    package func givenKeyName(_ profile: String) -> String? { keyName(givenOwner(of: profile), of: profile) }

    /// What stands in keys; `nil` for a number without a profile.
    func keyName(_ owner: Owner, of profile: String) -> String? {
        switch owner {
        case .known(let profile): profile.uuid
        case .doubtful(let pseudonym): pseudonym
        case .id: UUID(uuidString: profile)?.uuidString.lowercased() ?? profile
        case .merged(let id): id
        case .orphan, .unread: nil
        }
    }

    /// What stands in keys now in place of what an earlier one has.
    package func current(_ keyName: String) -> String { notes.merges[keyName.inBytes] ?? keyName }

    /// Whether what has this in its keys is another profile's by a merge.
    func isMerged(_ profile: String) -> Bool {
        givenKeyName(profile).map { notes.merges[$0.inBytes] != nil } ?? false
    }

    /// What keys of a profile may have: itself, and what was merged into it.
    package func keyNames(since keyName: String) -> [String] {
        [keyName] + notes.merges.filter { $0.value.inBytes == keyName.inBytes }.map(\.key.string).sorted()
    }

    /// Whether it may stand beside an object: a user's id, which may be a telephone number as a profile's.
    func mayLeave(_ id: String) -> Bool { words.mayLeave(id) }

    func mayLeave(eventID id: String, of month: CalendarDay) -> Bool { words.mayLeave(eventID: id, of: month) }
    func pseudonym(ofEvent id: String) -> String { pseudonyms.event(id) }
    func title(_ title: String) -> String? { words.title(title) }

    /// Why what is of a profile that cannot be read waits.
    package var obstacle: ProfileObstacle { .unread(region: region) }

    /// What stands in keys for a profile that a person names. A name may be an id too, of a watched folder for instance:
    /// then both are meant.
    package func keyNames(of text: String) -> [String] {
        if case .known(let profile) = owner(of: text) { return keyNames(since: profile.uuid) }
        let pseudonym = if case .doubtful(let pseudonym) = givenOwner(of: text) { [pseudonym] } else { [String]() }
        let id = givenKeyName(text) ?? text
        let noted = Set(notes.ids.map(\.inBytes)).union(notes.merges.keys).filter {
            $0.string.lowercased() == text.lowercased()
        }
        let named = (named(text) + pseudonym + noted.sorted().map(\.string) + [id]).flatMap {
            keyNames(since: current($0))
        }
        var seen: Set<ByteString> = []
        return named.filter { seen.insert($0.inBytes).inserted }
    }

    /// Ids of profiles with a name, in upper and lower case alike, merged ones left out.
    func named(_ text: String) -> [String] {
        allNamed(text).filter { notes.merges[$0.id.inBytes] == nil }.map(\.id)
    }

    /// The same with merged ones.
    func allNamed(_ text: String) -> [(id: String, name: String)] {
        let all =
            profiles.compactMap { profile in profile.name.map { (id: profile.uuid, name: $0) } }
            + notes.names.map { (id: $0.key.string, name: $0.value) }.sorted { $0.id.inBytes < $1.id.inBytes }
        return all.filter { $0.name.lowercased() == text.lowercased() }
    }

    /// Whether a profile is known by this id or number.
    package func isKnown(_ text: String) -> Bool {
        if case .known = owner(of: text) { true } else { false }
    }

    /// What people call a profile, by what stands, or stood before a merge, in its keys.
    package func name(_ keyName: String) -> String? { names[current(keyName).inBytes] }

    /// Names for people, by what stands in keys.
    package var names: [ByteString: String] {
        var names = profiles.reduce(into: notes.names) { names, profile in
            if let name = profile.name { names[profile.uuid.inBytes] = name }
        }
        for (profile, other) in notes.merges { names[profile] = names[other.inBytes] }
        return names
    }

    /// How many events are of each profile that has a number or a name here, by what stands in its keys, whether they were
    /// mapped to it or not.
    package func counts(_ uses: [ProfileUse]) -> [ByteString: Int] {
        let ids = ids
        return uses.reduce(into: [:]) { counts, use in
            if let key = keyName(of: use)?.inBytes, ids.contains(key) { counts[key, default: 0] += use.events }
        }
    }

    /// What stands in the keys of those that were given a number or a name, or into which another one was merged.
    private var ids: Set<ByteString> {
        Set(profiles.map(\.uuid.inBytes)).union(notes.names.keys).union(notes.merges.values.map(\.inBytes))
    }

    /// Whose events of one spelling are now.
    func keyName(of use: ProfileUse) -> String? {
        use.uuid.map(current) ?? keyName(owner(of: use.profile), of: use.profile)
    }
}

/// What stands in keys and metadata in place of an id that may tell a telephone number.
///
/// It is a UUID by HMAC-SHA-256 with a key that only this machine's ledger has. A digest alone would be no secret: all
/// numbers of the world are tried in minutes.
package struct Pseudonyms: Sendable {
    private enum Kind: String {
        case profile, event
    }

    private let key: [UInt8]

    package init(key: [UInt8]) {
        self.key = key
    }

    /// - Throws: ``LedgerError``.
    package init(_ ledger: Ledger) throws(LedgerError) {
        key = try ledger.pseudonymKey()
    }

    package func profile(_ id: String) -> String { uuid(id, of: .profile) }
    package func event(_ id: String) -> String { uuid(id, of: .event) }

    /// RFC 9562, version 8, in lower case.
    private func uuid(_ id: String, of kind: Kind) -> String {
        var bytes = HMACSHA256.code(of: "\(kind.rawValue)\u{0}\(id)", key: key)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { $0.load(as: uuid_t.self) }
        return UUID(uuid: uuid).uuidString.lowercased()
    }
}

extension ProfileBook {
    /// Which profile somebody means.
    package enum Match: Hashable, Sendable {
        /// What stands in its keys, before any merge.
        case one(String)
        case several([String])
        /// A telephone number without a profile.
        case orphan(PhoneNumber)
        case unread
        case none
    }

    /// Finds the one profile that is meant: by its id or number, else by its name, else by a name or an id in upper and lower
    /// case alike.
    /// - Parameter others: ids that are known besides those of the book, as they stand in events or keys.
    package func find(_ text: String, among others: [String]) -> Match {
        let owner = givenOwner(of: text)
        if case .known(let profile) = owner { return .one(profile.uuid) }
        let ids = Set((notes.ids + others.compactMap { givenKeyName($0) }).map(\.inBytes))
            .union(notes.merges.keys).union(notes.merges.values.map(\.inBytes))
        if let id = keyName(owner, of: text), ids.contains(id.inBytes) { return .one(id) }
        // A merge that did not get to its end goes on by the name with which it began.
        let all = allNamed(text)
        let exact = Set(all.filter { $0.name.inBytes == text.inBytes }.map(\.id.inBytes))
        if let one = one(of: exact) { return .one(one) }
        var found = Set(all.map(\.id.inBytes))
        found.formUnion(ids.filter { $0.string.lowercased() == text.lowercased() })
        if let one = one(of: found) { return .one(one) }
        switch (found.count, owner) {
        case (0, .orphan(let number)): return .orphan(number)
        case (0, .unread): return .unread
        case (0, _): return .none
        default: return .several(found.sorted().map(\.string))
        }
    }

    /// The only one, or the one that all of them are by now.
    private func one(of ids: Set<ByteString>) -> String? {
        if ids.count == 1 { return ids.first?.string }
        let ends = Set(ids.map { current($0.string).inBytes })
        return ends.count == 1 ? ends.first?.string : nil
    }
}
