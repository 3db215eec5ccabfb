import FoundationEssentials
import SyncCore

/// The keys that begin with a prefix, from one of them on, as a range in the order of bytes.
struct KeyRange {
    /// For ``from`` and ``to``, in this order. As texts, a bound could not hold just any bytes.
    static let condition = "key >= CAST(? AS TEXT) AND key < CAST(? AS TEXT)"

    let from: Data
    let to: Data

    /// - Parameter last: the range begins behind it.
    init(prefix: String, after last: ObjectKey?) {
        let bytes = Data(prefix.utf8)
        // No key begins with a NUL, or holds one. (An empty BLOB would be bound as NULL.)
        let first = bytes.isEmpty ? Data([0]) : bytes
        let next = last.map { Data($0.rawValue.utf8) + [0] } ?? first
        from = next.lexicographicallyPrecedes(first) ? first : next
        // A byte of UTF-8 is never 0xFF: the last one can always be raised.
        to = bytes.last.map { bytes.dropLast() + [$0 + 1] } ?? Data([0xFF])
    }
}
