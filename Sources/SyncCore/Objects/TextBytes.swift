extension Collection<UInt8> {
    /// How many bytes the byte order mark of UTF-8 takes at the beginning of a text: 3, or 0 where there is none.
    /// Editors on Windows write one, and it is no part of the text (RFC 3629, section 6). Only the first one counts.
    package var utf8MarkLength: Int { first == 0xEF && starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}

extension Collection<UInt8> where Index == Int {
    /// Where `sought` stands for the first time. The standard library's `firstRange(of:)` takes 0.2 µs a byte, several
    /// hundred times as long: 0.6 s for the 3 MB that stand behind some photos.
    package func firstRange(ofBytes sought: [UInt8]) -> Range<Int>? {
        let place = withContiguousStorageIfAvailable { bytes in
            sought.withUnsafeBufferPointer { Self.place(of: $0, in: bytes) }
        }
        guard let place = place ?? nil else { return nil }
        return startIndex + place..<startIndex + place + sought.count
    }

    private static func place(of sought: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = sought.first else { return 0 }
        var place = 0
        while place <= bytes.count - sought.count {
            if bytes[place] == first, bytes[place..<place + sought.count].elementsEqual(sought) { return place }
            place += 1
        }
        return nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// How many bytes both begin with. Eight at a time: a listing compares each key with the one before it, and most
    /// keys of a page begin alike.
    func sharedBeginning(with other: UnsafeBufferPointer<UInt8>) -> Int {
        guard let ours = UnsafeRawPointer(baseAddress), let theirs = UnsafeRawPointer(other.baseAddress)
        else { return 0 }
        let length = Swift.min(count, other.count)
        var place = 0
        while place + 8 <= length {
            let difference =
                ours.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                ^ theirs.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // The lowest byte of a little-endian number is the first one in memory.
            if difference != 0 { return place + difference.littleEndian.trailingZeroBitCount / 8 }
            place += 8
        }
        while place < length,
            ours.load(fromByteOffset: place, as: UInt8.self) == theirs.load(fromByteOffset: place, as: UInt8.self)
        {
            place += 1
        }
        return place
    }

    /// In the order of bytes.
    func precedes(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        let shared = sharedBeginning(with: other)
        return shared == Swift.min(count, other.count) ? count < other.count : self[shared] < other[shared]
    }
}

/// Bytes as characters of ASCII.
extension UInt8 {
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    package var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    package var isAlphanumeric: Bool { isDigit || isLetter }
    package var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
    /// White space of JSON and XML. A listing asks it of a byte at each tag, from another module.
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension BinaryInteger {
    /// The digits of a number that is not negative, at least so many: zeros stand in front.
    package func padded(to count: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(count - digits.utf8.count, 0)) + digits
    }
}
