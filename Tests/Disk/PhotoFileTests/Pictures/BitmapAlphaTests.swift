import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// BMP files of 32 bits whose header promises an alpha plane.
@Suite struct BitmapAlphaTests {
    private static let (width, height) = (100, 68)

    private func copy(of bytes: [UInt8]) throws -> StoredCopy {
        try Workbench(pictures: Decoder.workers).copy(
            of: bytes, named: "a.bmp", policy: ReducePolicy(maximumDimension: 50))
    }

    /// The pixels of plain.bmp, the last row first, behind a header of version 4.
    /// - Parameter alpha: of each pixel, in their order in the file.
    private func bitmap(alpha: (Int) -> UInt8) throws -> [UInt8] {
        let plain = try Fixture.bytes("kinds/plain.bmp")
        let begin = Int(plain[10])
        var pixels: [UInt8] = []
        for index in 0..<Self.width * Self.height {
            let start = begin + 3 * index
            pixels += plain[start..<start + 3]
            pixels.append(alpha(index))
        }
        func numbers(_ values: Int...) -> [UInt8] { values.flatMap { $0.littleEndianBytes } }
        var header = numbers(108, Self.width, Self.height)
        header += [1, 0, 32, 0]
        header += numbers(3, pixels.count, 0, 0, 0, 0)
        header += numbers(0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000)
        header += [UInt8](repeating: 0, count: 52)
        let offset = 14 + header.count
        return Array("BM".utf8) + numbers(offset + pixels.count, 0, offset) + header + pixels
    }

    @Test func `a picture whose alpha is 0 everywhere hides nothing`() throws {
        let copy = try copy(of: bitmap { _ in 0 })
        #expect(try copy.content == self.copy(of: Fixture.bytes("kinds/plain.bmp")).content)
        #expect(copy.dropped == [])
    }

    @Test func `where one pixel has some, the others lie on white`() throws {
        let last = Self.width * Self.height - 1
        let copy = try copy(of: bitmap { $0 == last ? 255 : 0 })
        let picture = try BaselinePicture(try copy.reduced())
        #expect(copy.dropped == [.alpha])
        #expect(picture.planes[0].sample(12, 10) > 245 && picture.planes[0].sample(12, 25) > 245)
        #expect(picture.planes[0].sample(49, 0) < 245)
    }
}
