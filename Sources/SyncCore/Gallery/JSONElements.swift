/// Where the elements of a JSON file are: those of its array, or the one object that it is.
///
/// Nothing is decoded. A file can so be written anew without some of its elements, all other bytes as they were.
package struct JSONElements: Hashable, Sendable {
    /// Elements beyond these are not looked at.
    package static let maximumCount = 100_000

    /// Ranges of the file's bytes, in order. A file that is neither array nor object has none.
    package private(set) var elements: [Range<Int>] = []
    /// What is wrong behind the last element; `nil` for a whole file.
    package private(set) var damage: JSONDamage?
    private let size: Int

    /// - Parameter bytes: the whole file. A byte order mark of UTF-8 at its beginning is allowed.
    package init(of bytes: [UInt8]) {
        size = bytes.count
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, in: start..<bytes.count)
            do throws(JSONDamage) {
                try scan(&scanner)
            } catch {
                damage = error
            }
        }
    }

    private mutating func scan(_ scanner: inout JSONScanner) throws(JSONDamage) {
        scanner.skipSpace()
        switch scanner.peek() {
        case UInt8(ascii: "["):
            try scanner.array(depth: 0) { element throws(JSONDamage) in
                guard elements.count < Self.maximumCount else {
                    throw JSONDamage(
                        offset: element.lowerBound, reason: "more than \(Self.maximumCount) elements are not read")
                }
                elements.append(element)
            }
        case UInt8(ascii: "{"): elements.append(try scanner.value())
        default: _ = try scanner.value()
        }
        scanner.skipSpace()
        guard scanner.isAtEnd else { throw scanner.damage("something follows the end of the value") }
    }

    /// The pieces of the file that make it without some elements: each other element with the bytes around it, a comma
    /// fewer for each one that is left out. Nothing is said of a file that is one object.
    /// - Parameter removed: indexes of elements.
    package func pieces(without removed: Set<Int>) -> [Range<Int>] {
        guard let first = elements.first, let last = elements.last else { return [0..<size] }
        var pieces = [0..<first.lowerBound]
        var isFirst = true
        for index in elements.indices where !removed.contains(index) {
            // With its separator: what is between the element before it, kept or not, and itself.
            let start = isFirst ? elements[index].lowerBound : elements[index - 1].upperBound
            pieces.append(start..<elements[index].upperBound)
            isFirst = false
        }
        pieces.append(last.upperBound..<size)
        return pieces
    }
}
