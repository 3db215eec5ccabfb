import Foundation

/// Random numbers that a seed repeats (SplitMix64), for tests that are run again by the seed that they print.
struct Dice: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// - Parameter variable: of the environment, with a seed to be used again.
    init(_ variable: String) {
        self.init(seed: Self.number(variable) ?? UInt64.random(in: 1...1_000_000))
    }

    static func number<Number: FixedWidthInteger>(_ variable: String) -> Number? {
        ProcessInfo.processInfo.environment[variable].flatMap { Number($0) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
