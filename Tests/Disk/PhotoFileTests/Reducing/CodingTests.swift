import SyncCore
import SyncPhotos
import Testing

/// Whatever way a JPEG is coded in, its copy shows the same picture.
@Suite struct CodingTests {
    private static let samplings = [
        "1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x1-2x2-2x2", "2x2-2x1-1x2", "2x2-1x1-2x2",
        "3x2-1x1-1x2",
    ].map { "sampling-\($0).jpg" }

    private static let codings = [
        "progressive", "arithmetic", "arithmetic-progressive", "restart-blocks", "restart-rows", "optimized",
        "multiscan",
    ].map { "coding-\($0).jpg" }

    @Test(arguments: samplings + codings)
    func `a colour picture is halved to a baseline 4:2:0 copy`(name: String) throws {
        let copy = try Workbench().copy(of: try Fixture.bytes(name), policy: ReducePolicy(maximumDimension: 100))
        let picture = try BaselinePicture(try copy.reduced())
        let reference = try Fixture.reference("reference-100x68.ppm")
        #expect(copy.width == 100 && copy.height == 68)
        #expect(picture.planes.map(\.horizontal) == [2, 1, 1] && picture.planes.map(\.vertical) == [2, 1, 1])
        #expect(reference.distance(to: picture, component: 0) < 1.6)
        #expect(reference.distance(to: picture, component: 1) < 4.5)
        #expect(reference.distance(to: picture, component: 2) < 4.5)
    }

    @Test(arguments: samplings + codings)
    func `a picture within the limit keeps its size`(name: String) throws {
        let picture = try BaselinePicture(try Workbench().encoded(try Fixture.bytes(name)).bytes)
        let reference = try Fixture.reference("reference-200x136.ppm")
        #expect(reference.distance(to: picture, component: 0) < 1.2)
        #expect(reference.distance(to: picture, component: 1) < 3)
        #expect(reference.distance(to: picture, component: 2) < 3)
    }

    @Test(arguments: [("coding-rgb.jpg", 3), ("coding-gray.jpg", 1)])
    func `RGB stays RGB and gray stays gray`(name: String, components: Int) throws {
        let bytes = try Fixture.bytes(name)
        try expectSamePicture(try Workbench().encoded(bytes).bytes, as: bytes, components: components)
    }

    @Test(arguments: ["coding-cmyk.jpg", "coding-ycck.jpg"])
    func `CMYK keeps its components and its Adobe marker`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let output = try Workbench().encoded(bytes).bytes
        try expectSamePicture(output, as: bytes, components: 4)
        // The last byte is the colour transform: 0 for CMYK, 2 for YCCK.
        let adobe = try JPEGSegments(bytes).contents(of: 0xEE, startingWith: "Adobe").map(\.last)
        #expect(try JPEGSegments(output).contents(of: 0xEE, startingWith: "Adobe").map(\.last) == adobe)
        #expect(adobe.count == 1)
    }

    @Test func `CMYK without an Adobe marker does not get one: readers would invert it`() throws {
        var file = try JPEGSegments(try Fixture.bytes("coding-cmyk.jpg"))
        file.segments.removeAll { $0.marker == 0xEE }
        let output = try Workbench().encoded(file.bytes).bytes
        #expect(try JPEGSegments(output).segments.allSatisfy { $0.marker != 0xEE })
        try expectSamePicture(output, as: file.bytes, components: 4)
    }

    @Test func `the same input gives the same bytes`() throws {
        let bytes = try Fixture.bytes("camera-canon.jpg")
        let policy = ReducePolicy(maximumDimension: 64)
        #expect(try Workbench().copy(of: bytes, policy: policy) == Workbench().copy(of: bytes, policy: policy))
    }

    private func expectSamePicture(_ output: [UInt8], as input: [UInt8], components: Int) throws {
        let (after, before) = (try BaselinePicture(output), try BaselinePicture(input))
        #expect(after.planes.count == components)
        for (plane, original) in zip(after.planes, before.planes) {
            #expect(plane.width == original.width && plane.height == original.height)
            let sum = zip(plane.samples, original.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(sum) / Double(plane.samples.count) < 3)
        }
    }
}
