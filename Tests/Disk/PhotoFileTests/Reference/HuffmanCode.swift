import Foundation

/// Entropy-coded bytes of a scan as bits; stuffed zeros are left out (T.81, F.1.2.3).
struct Bits {
    private let bytes: [UInt8]
    private var position = 0

    init(_ entropy: [UInt8]) {
        bytes = entropy.indices.filter { $0 == 0 || entropy[$0] != 0 || entropy[$0 - 1] != 0xFF }.map { entropy[$0] }
    }

    mutating func next() -> Int {
        defer { position += 1 }
        return position / 8 < bytes.count ? Int(bytes[position / 8] >> UInt8(7 - position % 8)) & 1 : 0
    }

    /// A signed value of that many bits (T.81, F.2.2.1: EXTEND).
    mutating func value(ofLength length: Int) -> Int {
        guard length > 0 else { return 0 }
        let value = (0..<length).reduce(0) { value, _ in value << 1 | next() }
        return value < 1 << (length - 1) ? value - (1 << length) + 1 : value
    }
}

/// A table of DHT (T.81, annex C).
struct HuffmanCode {
    private var symbols: [Int: UInt8] = [:]

    init(counts: [Int], symbols: [UInt8]) {
        var code = 0
        var rest = symbols[...]
        for (length, count) in counts.enumerated() {
            for _ in 0..<count {
                self.symbols[1 << (length + 1) | code] = rest.popFirst()
                code += 1
            }
            code <<= 1
        }
    }

    func next(_ bits: inout Bits) throws -> UInt8 {
        // The leading one tells codes of different lengths apart.
        var code = 1
        for _ in 0..<16 {
            code = code << 1 | bits.next()
            if let symbol = symbols[code] { return symbol }
        }
        throw BaselinePicture.Unreadable()
    }
}

/// T.81, A.3.3, in floating point.
enum InverseDCT {
    private static let basis: [Double] = (0..<64).map { index in
        let (position, frequency) = (index / 8, index % 8)
        let scale = frequency == 0 ? 0.5.squareRoot() : 1
        return scale / 2 * cos(Double(2 * position + 1) * Double(frequency) * .pi / 16)
    }

    static func samples(_ coefficients: [Double]) -> [UInt8] {
        var rows = [Double](repeating: 0, count: 64)
        for v in 0..<8 where coefficients[v * 8..<v * 8 + 8].contains(where: { $0 != 0 }) {
            for x in 0..<8 {
                rows[v * 8 + x] = (0..<8).reduce(0) { $0 + basis[x * 8 + $1] * coefficients[v * 8 + $1] }
            }
        }
        return (0..<64).map { index in
            let sum = (0..<8).reduce(0.0) { $0 + basis[index / 8 * 8 + $1] * rows[$1 * 8 + index % 8] }
            return UInt8(min(max((sum + 128).rounded(), 0), 255))
        }
    }
}
