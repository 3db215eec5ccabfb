import Foundation

/// A baseline JPEG decoded by the letter of ITU T.81, with none of the product's libraries: the second opinion.
///
/// One interleaved scan with Huffman codes, 8 bit, any sampling; planes stay at their own sampling and colour space.
struct BaselinePicture {
    struct Plane {
        var width: Int
        var height: Int
        var horizontal: Int
        var vertical: Int
        var samples: [UInt8]

        func sample(_ x: Int, _ y: Int) -> Int { Int(samples[min(y, height - 1) * width + min(x, width - 1)]) }
    }

    struct Unreadable: Error {}

    private(set) var width = 0
    private(set) var height = 0
    private(set) var planes: [Plane] = []

    private var quantization: [Int: [Int]] = [:]
    private var codes: [Int: HuffmanCode] = [:]
    private var tables: [(quantization: Int, dc: Int, ac: Int)] = []
    private var identifiers: [Int] = []

    init(_ bytes: [UInt8]) throws {
        for segment in try JPEGSegments(bytes).segments {
            let body = segment.body
            switch segment.marker {
            case 0xDB: readQuantization(body)
            case 0xC4: readCodes(body)
            case 0xC0: readFrame(body)
            case 0xC1...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF, 0xDD: throw Unreadable()
            case 0xDA:
                readScanHeader(body)
                try decode(Bits(segment.entropy))
            default: break
            }
        }
        guard !planes.isEmpty else { throw Unreadable() }
    }

    private mutating func readQuantization(_ body: [UInt8]) {
        var at = 0
        while at + 65 <= body.count {
            quantization[Int(body[at] & 15)] = body[at + 1..<at + 65].map(Int.init)
            at += 65
        }
    }

    private mutating func readCodes(_ body: [UInt8]) {
        var at = 0
        while at + 17 <= body.count {
            let counts = body[at + 1..<at + 17].map(Int.init)
            let total = counts.reduce(0, +)
            codes[Int(body[at])] = HuffmanCode(counts: counts, symbols: Array(body[at + 17..<at + 17 + total]))
            at += 17 + total
        }
    }

    private mutating func readFrame(_ body: [UInt8]) {
        height = Int(body[1]) << 8 | Int(body[2])
        width = Int(body[3]) << 8 | Int(body[4])
        for component in 0..<Int(body[5]) {
            let entry = body[6 + 3 * component..<9 + 3 * component].map(Int.init)
            identifiers.append(entry[0])
            tables.append((entry[2], 0, 0))
            planes.append(
                Plane(width: 0, height: 0, horizontal: entry[1] >> 4, vertical: entry[1] & 15, samples: []))
        }
    }

    private mutating func readScanHeader(_ body: [UInt8]) {
        for index in 0..<Int(body[0]) {
            guard let component = identifiers.firstIndex(of: Int(body[1 + 2 * index])) else { continue }
            tables[component].dc = Int(body[2 + 2 * index] >> 4)
            tables[component].ac = 0x10 | Int(body[2 + 2 * index] & 15)
        }
    }

    private mutating func decode(_ bits: Bits) throws {
        var bits = bits
        let (maxH, maxV) = (planes.map(\.horizontal).max() ?? 1, planes.map(\.vertical).max() ?? 1)
        let across = (width + 8 * maxH - 1) / (8 * maxH)
        let down = (height + 8 * maxV - 1) / (8 * maxV)
        let padded = planes.map { (stride: across * $0.horizontal * 8, rows: down * $0.vertical * 8) }
        var samples = padded.map { [UInt8](repeating: 0, count: $0.stride * $0.rows) }
        var predictors = [Int](repeating: 0, count: planes.count)
        for mcu in 0..<across * down {
            for index in planes.indices {
                for block in 0..<planes[index].horizontal * planes[index].vertical {
                    let column = mcu % across * planes[index].horizontal + block % planes[index].horizontal
                    let row = mcu / across * planes[index].vertical + block / planes[index].horizontal
                    let pixels = try decodeBlock(&bits, tables[index], &predictors[index])
                    for y in 0..<8 {
                        let start = (row * 8 + y) * padded[index].stride + column * 8
                        samples[index].replaceSubrange(start..<start + 8, with: pixels[y * 8..<y * 8 + 8])
                    }
                }
            }
        }
        for index in planes.indices {
            planes[index].width = (width * planes[index].horizontal + maxH - 1) / maxH
            planes[index].height = (height * planes[index].vertical + maxV - 1) / maxV
            planes[index].samples = (0..<planes[index].height).flatMap { y in
                samples[index][y * padded[index].stride..<y * padded[index].stride + planes[index].width]
            }
        }
    }

    private func decodeBlock(
        _ bits: inout Bits, _ table: (quantization: Int, dc: Int, ac: Int), _ predictor: inout Int
    ) throws -> [UInt8] {
        guard let dc = codes[table.dc], let ac = codes[table.ac], let steps = quantization[table.quantization] else {
            throw Unreadable()
        }
        var coefficients = [Double](repeating: 0, count: 64)
        predictor += bits.value(ofLength: Int(try dc.next(&bits)))
        coefficients[0] = Double(predictor * steps[0])
        var index = 1
        while index < 64 {
            let symbol = Int(try ac.next(&bits))
            if symbol == 0 { break }
            index += symbol >> 4
            guard index < 64 else { throw Unreadable() }
            coefficients[zigzag[index]] = Double(bits.value(ofLength: symbol & 15) * steps[index])
            index += 1
        }
        return InverseDCT.samples(coefficients)
    }
}

private let zigzag = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
    55,
    62, 63,
]
