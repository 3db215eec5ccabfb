/// Entries of a folder, all of them in two blocks of memory.
///
/// One allocation for each would cost five times as much, and stay with the thread that made it: malloc(3) has an arena
/// for each. Listing 100,000 objects took 60 MiB so.
struct EntryList: Sendable {
    struct Entry {
        /// What the entry adds to the key: see ``RecordPath``.
        let piece: ArraySlice<UInt8>
        let kind: RecordPath.Kind
        fileprivate let nameBytes: ArraySlice<UInt8>

        /// Empty for a record, whose name nobody needs.
        var name: String { String(decoding: nameBytes, as: UTF8.self) }

        init(piece: ArraySlice<UInt8>, kind: RecordPath.Kind, nameBytes: ArraySlice<UInt8> = []) {
            self.piece = piece
            self.kind = kind
            self.nameBytes = nameBytes
        }
    }

    /// Where an entry's piece is, and behind it its name.
    private struct Place {
        let start: Int
        let pieceLength: UInt16
        let nameLength: UInt16
        let kind: RecordPath.Kind

        var piece: Range<Int> { start..<start + Int(pieceLength) }
        var name: Range<Int> { piece.upperBound..<piece.upperBound + Int(nameLength) }
    }

    private var bytes: [UInt8] = []
    private var places: [Place] = []

    mutating func append(_ name: String, piece: [UInt8], _ kind: RecordPath.Kind) {
        let start = bytes.count
        bytes += piece
        if kind != .record { bytes += name.utf8 }
        places.append(
            Place(
                start: start, pieceLength: UInt16(piece.count),
                nameLength: UInt16(bytes.count - start - piece.count), kind: kind))
    }

    /// Puts them in the order of their pieces, and keeps the first of them.
    mutating func sort(keeping count: Int) {
        let old = bytes
        old.withUnsafeBufferPointer { old in
            places.sort { first, second in old[first.piece].lexicographicallyPrecedes(old[second.piece]) }
        }
        guard places.count > count else { return }
        bytes = []
        places = places.prefix(count).map { place in
            let start = bytes.count
            bytes += old[place.start..<place.name.upperBound]
            return Place(
                start: start, pieceLength: place.pieceLength, nameLength: place.nameLength, kind: place.kind)
        }
    }
}

extension EntryList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { places.count }

    subscript(index: Int) -> Entry {
        let place = places[index]
        return Entry(piece: bytes[place.piece], kind: place.kind, nameBytes: bytes[place.name])
    }
}
