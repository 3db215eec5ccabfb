package import SyncCore

/// Which objects get their turn on a day, where nobody remembers when they had it last: by their keys, so many of a hundred
/// each day, and all of them in `100 / percent` days.
package struct DayChoice: Sendable {
    /// Of all objects; 0 to 100.
    package let percent: Double
    /// Since 1970, UTC.
    package let day: Int

    package func contains(_ key: ObjectKey) -> Bool {
        if percent >= 100 { return true }
        // Each key has a place on a circle, and the hand goes on by a part of it each day: by the same sum at the end of a
        // day and at the beginning of the next one, so that it leaves nothing out.
        let place = Double(Self.hash(key) >> 11) / Double(1 << 53)
        return (hand(day) - place).rounded(.down) != (hand(day + 1) - place).rounded(.down)
    }

    private func hand(_ day: Int) -> Double { Double(day) * percent / 100 }

    /// FNV-1a, and the end of MurmurHash3: each bit of the key counts for the upper ones.
    private static func hash(_ key: ObjectKey) -> UInt64 {
        var hash = key.rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] as [UInt64] {
            hash = (hash ^ (hash >> 33)) &* factor
        }
        return hash ^ (hash >> 33)
    }
}
