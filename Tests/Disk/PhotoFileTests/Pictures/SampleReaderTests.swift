import CSyncJPEG
import SyncCore
import SyncSystem
import Testing

@testable import SyncPhotos

/// Planes of samples through the filter, the turn and the encoder of JPEGs.
@Suite struct SampleReaderTests {
    @Test(arguments: [PlanarPicture.Kind.rgb, .ycbcr(1, 1), .ycbcr(2, 1), .ycbcr(1, 2), .ycbcr(2, 2)], [75, 201])
    func `samples of every kind become the picture that they are`(kind: PlanarPicture.Kind, limit: Int) throws {
        let planar = PlanarPicture(try Fixture.reference("reference-201x137.ppm"), kind)
        let picture = try BaselinePicture(try planar.encoded(limit: limit, orientation: 1))
        let reference = try Fixture.reference(limit == 75 ? "reference-75x51.ppm" : "reference-201x137.ppm")
        #expect(reference.distance(to: picture, component: 0) < 2.1)
        #expect(reference.distance(to: picture, component: 1) < 6)
        #expect(reference.distance(to: picture, component: 2) < 6)
    }

    @Test(arguments: 1...8, [PlanarPicture.Kind.rgb, .ycbcr(2, 2)])
    func `samples are turned by the orientation`(orientation: Int, kind: PlanarPicture.Kind) throws {
        let reference = try Fixture.reference("reference-201x137.ppm")
        let planar = PlanarPicture(reference, kind, turnedFrom: orientation)
        let picture = try BaselinePicture(try planar.encoded(limit: 201, orientation: orientation))
        #expect(reference.distance(to: picture, component: 0) < 2.1)
        #expect(reference.distance(to: picture, component: 1) < 6)
        #expect(reference.distance(to: picture, component: 2) < 6)
    }

    @Test func `gray samples stay gray`() throws {
        let reference = try Fixture.reference("reference-201x137.ppm")
        let picture = try BaselinePicture(try PlanarPicture(reference, .gray).encoded(limit: 201, orientation: 1))
        #expect(picture.planes.count == 1)
        #expect(reference.distance(to: picture, component: 0) < 2.1)
    }

    @Test(arguments: [(1, 1), (1, 9), (7, 1), (17, 33), (16, 16), (35, 2)])
    func `odd sizes are as good`(width: Int, height: Int) throws {
        let planar = PlanarPicture(width: width, height: height, .ycbcr(2, 2)) { _, _ in (200, 30, 90) }
        let picture = try BaselinePicture(try planar.encoded(limit: 100, orientation: 1))
        #expect([picture.width, picture.height] == [width, height])
        let colour = PlanarPicture.ycbcr(200, 30, 90)
        for (plane, expected) in zip(picture.planes, [colour.0, colour.1, colour.2]) {
            #expect(abs(Double(plane.sample(plane.width - 1, plane.height - 1)) - expected) < 4)
        }
    }

    @Test func `the profile is written, and the same samples give the same bytes`() throws {
        let planar = PlanarPicture(try Fixture.reference("reference-75x51.ppm"), .rgb)
        // More than one segment takes.
        let profile = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let bytes = try planar.encoded(limit: 64, orientation: 1, profile: profile)
        let chunks = try JPEGSegments(bytes).contents(of: 0xE2, startingWith: "ICC_PROFILE\0")
        #expect(chunks.count == 3)
        #expect(chunks.flatMap { $0.dropFirst(2) } == profile)
        #expect(try planar.encoded(limit: 64, orientation: 1, profile: profile) == bytes)
    }

    @Test func `fewer samples than the picture has are an error`() throws {
        var planar = PlanarPicture(try Fixture.reference("reference-75x51.ppm"), .rgb)
        planar.bytes.removeLast()
        let error = #expect(throws: PhotoError.self) { try planar.encoded(limit: 64, orientation: 1) }
        #expect(error?.code == .truncated)
    }

    @Test(arguments: [(0, 4, 1, 1), (4, -1, 1, 1), (4, 4, 0, 1), (4, 4, 3, 1), (4, 4, 1, 4)])
    func `sizes and subsamplings that there are not are refused`(
        width: Int, height: Int, across: Int, down: Int
    ) throws {
        var planar = PlanarPicture(width: 4, height: 4, .ycbcr(1, 1)) { _, _ in (1, 2, 3) }
        (planar.width, planar.height, planar.across, planar.down) = (width, height, across, down)
        #expect(throws: PhotoError.self) { try planar.encoded(limit: 64, orientation: 1) }
    }

    @Test func `more pixels than the limit are refused`() throws {
        let planar = PlanarPicture(try Fixture.reference("reference-75x51.ppm"), .rgb)
        let error = #expect(throws: PhotoError.self) {
            try planar.encoded(limit: 64, orientation: 1, limits: PhotoLimits(pixels: 1_000))
        }
        #expect(error?.code == .overLimit)
    }
}

/// A picture as planes of samples, as a decoder of ours hands it over.
struct PlanarPicture {
    enum Kind: Hashable, CustomTestStringConvertible {
        case gray, rgb
        /// Pixels that a chroma sample covers, across and down.
        case ycbcr(Int, Int)

        var testDescription: String {
            switch self {
            case .gray: "gray"
            case .rgb: "RGB"
            case .ycbcr(let across, let down): "YCbCr \(across)x\(down)"
            }
        }
    }

    var width: Int
    var height: Int
    var across = 1
    var down = 1
    var bytes: [UInt8] = []
    private let colour: CSyncJPEG_Colour

    /// - Parameter orientation: the samples lie such that they show the picture when they are turned by it.
    init(_ picture: ReferencePicture, _ kind: Kind, turnedFrom orientation: Int = 1) {
        let isTransposed = orientation >= 5
        let (width, height) =
            isTransposed ? (picture.height, picture.width) : (picture.width, picture.height)
        self.init(width: width, height: height, kind) { column, row in
            let (left, top) = (width - 1 - column, height - 1 - row)
            return switch orientation {
            case 2: picture.pixel(left, row)
            case 3: picture.pixel(left, top)
            case 4: picture.pixel(column, top)
            case 5: picture.pixel(row, column)
            case 6: picture.pixel(top, column)
            case 7: picture.pixel(top, left)
            case 8: picture.pixel(row, left)
            default: picture.pixel(column, row)
            }
        }
    }

    init(width: Int, height: Int, _ kind: Kind, pixel: (Int, Int) -> (Int, Int, Int)) {
        (self.width, self.height) = (width, height)
        var pixels: [(Int, Int, Int)] = []
        for y in 0..<height { for x in 0..<width { pixels.append(pixel(x, y)) } }
        switch kind {
        case .gray:
            colour = CSYNC_JPEG_GRAY
            bytes = pixels.map { Self.rounded(Self.ycbcr($0.0, $0.1, $0.2).0) }
        case .rgb:
            colour = CSYNC_JPEG_RGB
            bytes = pixels.map { UInt8($0.0) } + pixels.map { UInt8($0.1) } + pixels.map { UInt8($0.2) }
        case .ycbcr(let across, let down):
            colour = CSYNC_JPEG_YCBCR
            (self.across, self.down) = (across, down)
            let converted = pixels.map { Self.ycbcr($0.0, $0.1, $0.2) }
            bytes = converted.map { Self.rounded($0.0) }
            for part in 0...1 {
                for y in stride(from: 0, to: height, by: down) {
                    for x in stride(from: 0, to: width, by: across) {
                        var (sum, count) = (0.0, 0.0)
                        for row in y..<min(y + down, height) {
                            for column in x..<min(x + across, width) {
                                let pixel = converted[row * width + column]
                                sum += part == 0 ? pixel.1 : pixel.2
                                count += 1
                            }
                        }
                        bytes.append(Self.rounded(sum / count))
                    }
                }
            }
        }
    }

    /// JFIF 1.02.
    static func ycbcr(_ r: Int, _ g: Int, _ b: Int) -> (Double, Double, Double) {
        let (r, g, b) = (Double(r), Double(g), Double(b))
        return (
            0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
            128 + 0.5 * r - 0.418688 * g - 0.081312 * b
        )
    }

    private static func rounded(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }

    func encoded(
        limit: Int, orientation: Int, profile: [UInt8] = [], limits: PhotoLimits = PhotoLimits()
    ) throws -> [UInt8] {
        // What lies in front of the samples is none of them.
        let file = try MemoryFile(named: "test")
        try file.write([1, 2, 3] + bytes)
        let samples = CSyncJPEG_Samples(
            colour: colour, width: Int32(width), height: Int32(height), across: Int32(across), down: Int32(down),
            offset: 3, icc: nil, icc_count: 0)
        let reader = try JPEGReader(reading: samples, in: file, profile: profile, limits: limits)
        let plan = JPEGReduction(policy: ReducePolicy(maximumDimension: limit, quality: 95), orientation: orientation)
        return try reader.reduce(plan, exif: nil).bytes
    }
}
