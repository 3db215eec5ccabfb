package import SyncCore
import SyncDigest

extension [UInt8] {
    /// Bytes that look random and are always the same for a seed (SplitMix64).
    package static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var word: UInt64 = 0
            for index in 0..<count {
                if index % 8 == 0 {
                    state &+= 0x9E37_79B9_7F4A_7C15
                    word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
                    word ^= word >> 31
                }
                buffer.initializeElement(at: index, to: UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
            initialized = count
        }
    }
}

extension ObjectBody {
    /// A body of bytes, with their digests.
    package init(_ bytes: [UInt8]) {
        self.init(bytes: bytes, digest: ContentDigest(of: bytes))
    }

    package init(_ text: String) {
        self.init(Array(text.utf8))
    }
}
