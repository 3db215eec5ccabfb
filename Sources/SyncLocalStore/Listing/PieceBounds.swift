/// Which entries of one folder a page may hold: their pieces, held against what prefix and token leave for the folder.
struct PieceBounds: Hashable {
    private let prefix: ArraySlice<UInt8>
    private let after: ArraySlice<UInt8>?
    /// Entries up to and with this one are done.
    var skipped: [UInt8]?

    /// `nil` when no key below `base` can be in the page.
    init?(base: [UInt8], prefix: [UInt8], after: [UInt8]?) {
        self.prefix = prefix.dropFirst(base.count)
        guard let after else {
            self.after = nil
            return
        }
        if after.starts(with: base) {
            self.after = after.dropFirst(base.count)
        } else if base.lexicographicallyPrecedes(after) {
            return nil
        } else {
            self.after = nil
        }
    }

    func admit(_ entry: EntryList.Entry) -> Bool {
        let piece = entry.piece
        switch entry.kind {
        case .record: guard piece.starts(with: prefix) else { return false }
        case .folder, .chunk: guard piece.starts(with: prefix) || prefix.starts(with: piece) else { return false }
        }
        if let skipped, !skipped.lexicographicallyPrecedes(piece) { return false }
        guard let after else { return true }
        if after.lexicographicallyPrecedes(piece) { return true }
        // The folder that holds the token has more keys behind it.
        return entry.kind != .record && after.starts(with: piece)
    }

    /// Whether whatever these bounds admit was admitted by `earlier` too.
    func isWithin(_ earlier: PieceBounds) -> Bool {
        guard prefix.elementsEqual(earlier.prefix) else { return false }
        if let done = earlier.skipped {
            // A token inside the skipped folder needs that folder.
            let isPast = [skipped?[...], after].contains { start in
                guard let start else { return false }
                return done.lexicographicallyPrecedes(start) && !start.starts(with: done)
            }
            guard isPast || skipped == done else { return false }
        }
        guard let before = earlier.after else { return true }
        guard let after else { return false }
        return !after.lexicographicallyPrecedes(before)
    }
}
