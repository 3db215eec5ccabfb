import SyncCore
import SyncPhotos
import Testing

/// Eight files that show one picture when their orientation is obeyed. Its sides are odd: a turned picture whose chroma
/// samples were turned as they are would have them half a sample off.
@Suite struct OrientationTests {
    @Test(arguments: 1...8, [75, 201])
    func `the copy is upright by its pixels`(orientation: Int, limit: Int) throws {
        let bytes = try Fixture.bytes("orientation-\(orientation).jpg")
        let (output, sides) = try Workbench().encoded(bytes, policy: ReducePolicy(maximumDimension: limit))
        let picture = try BaselinePicture(output)
        let size = limit == 75 ? "75x51" : "201x137"
        let reference = try Fixture.reference("reference-\(size).ppm")

        #expect("\(sides[0])x\(sides[1])" == size)
        #expect(reference.distance(to: picture, component: 0) < 2.1)
        #expect(reference.distance(to: picture, component: 1) < 6)
        #expect(reference.distance(to: picture, component: 2) < 6)
        let exif = try #require(try JPEGSegments(output).exif)
        #expect(ExifEntries(exif).image[0x0112] == 1)
    }

    @Test(arguments: 1...8)
    func `a photo that is stored unchanged has the size in which it is seen`(orientation: Int) throws {
        let bytes = try Fixture.bytes("orientation-\(orientation).jpg")
        let copy = try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 100))
        #expect(copy.content == .unchanged)
        #expect([copy.width, copy.height] == [201, 137])
    }
}
