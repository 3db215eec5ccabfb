/// Faults at random, the same ones for a seed.
///
/// What happens to a request depends on the seed, its operation and key, and how often the same was asked before; never
/// on the order in which threads arrive.
package struct FaultMix: Sendable, CustomStringConvertible {
    package struct Share: Sendable {
        /// 0...1, of the requests with one of the operations.
        package var probability: Double
        /// `nil`: any.
        package var operations: Set<S3Operation>?
        /// One of them is taken, each as often as the others.
        package var faults: [Fault]

        package init(_ probability: Double, of operations: Set<S3Operation>? = nil, _ faults: [Fault]) {
            self.probability = probability
            self.operations = operations
            self.faults = faults
        }
    }

    package let seed: UInt64
    package let shares: [Share]

    package init(seed: UInt64, shares: [Share]) {
        self.seed = seed
        self.shares = shares
    }

    /// 5 % SlowDown, 2 % cut connections (four in ten of them after the request was carried out), 1 % wrong digests.
    package static func badDay(seed: UInt64) -> FaultMix {
        let badDigest = ScriptedAnswer(
            400, "BadDigest", "The Content-MD5 you specified did not match what we received.")
        return FaultMix(
            seed: seed,
            shares: [
                Share(0.05, [.slowDown]),
                Share(
                    0.02,
                    [
                        .cut(.beforeBody), .cut(.duringBody(1_000)), .reset(.afterBody), .cut(.beforeReply),
                        .cut(.duringReply(1)),
                    ]),
                Share(0.005, of: [.putObject, .uploadPart], [.answer(badDigest, at: .afterBody)]),
                Share(0.005, of: [.putObject, .uploadPart], [.wrongETag]),
                Share(0.01, of: [.getObject], [.corruptReply]),
            ])
    }

    package var description: String { "fault mix, seed \(seed)" }

    /// - Parameter attempt: how often the same operation was asked of the same key before.
    func fault(_ operation: S3Operation, _ key: ObjectName?, attempt: Int) -> Fault? {
        var random = RandomBits(seed: seed, Array(operation.rawValue.utf8) + [0] + (key?.bytes ?? []), attempt)
        var point = random.next()
        for share in shares where share.operations?.contains(operation) ?? true {
            if point < share.probability {
                return share.faults[Int(random.next() * Double(share.faults.count))]
            }
            point -= share.probability
        }
        return nil
    }
}

/// SplitMix64 over a start that is hashed (FNV-1a) from what identifies a request.
private struct RandomBits {
    private var state: UInt64

    init(seed: UInt64, _ bytes: [UInt8], _ attempt: Int) {
        state = bytes.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        state &+= UInt64(truncatingIfNeeded: attempt) &* 0xD134_2543_DE82_EF95
    }

    /// Uniform in 0..<1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        return Double(word >> 11) / Double(1 << 53)
    }
}
