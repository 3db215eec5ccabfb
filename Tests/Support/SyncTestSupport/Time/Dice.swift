import Foundation

/// Random numbers that a seed repeats, for tests that are run again by the seed that they print: SplitMix64 (Steele, Lea,
/// Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
package struct Dice: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// - Parameter variable: of the environment, with a seed to be used again.
    package init(_ variable: String) {
        self.init(seed: Self.number(variable) ?? UInt64.random(in: 1...1_000_000))
    }

    package static func number<Number: FixedWidthInteger>(_ variable: String) -> Number? {
        ProcessInfo.processInfo.environment[variable].flatMap { Number($0) }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// 0 to `bound` - 1.
    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Whether one of `count` chances comes true.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &self) }
}
