package import SyncCore
import SyncLedger

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
