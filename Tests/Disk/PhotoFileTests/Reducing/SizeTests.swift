import SyncCore
import SyncPhotos
import Testing

/// The longer side is exact, the other keeps the ratio to the pixel, nothing is enlarged.
@Suite struct SizeTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        var limit: Int
        var size: [Int]

        init(_ name: String, _ limit: Int, _ size: [Int]) {
            (self.name, self.limit, self.size) = (name, limit, size)
        }

        var testDescription: String { "\(name) to \(limit)" }
    }

    @Test(arguments: [
        Row("size-1x1.jpg", 2_048, [1, 1]), Row("size-1x77.jpg", 2_048, [1, 77]), Row("size-77x1.jpg", 2_048, [77, 1]),
        Row("size-7x9.jpg", 2_048, [7, 9]), Row("size-8x8.jpg", 2_048, [8, 8]),
        Row("size-15x17.jpg", 2_048, [15, 17]), Row("size-16x16.jpg", 16, [16, 16]),
        Row("size-17x33.jpg", 2_048, [17, 33]), Row("size-17x33.jpg", 32, [16, 32]),
        Row("size-1x77.jpg", 76, [1, 76]), Row("size-77x1.jpg", 3, [3, 1]), Row("size-1x1.jpg", 1, [1, 1]),
        Row("size-65500x1.jpg", 2_048, [2_048, 1]), Row("size-65500x1.jpg", 65_500, [65_500, 1]),
        Row("sampling-2x2.jpg", 199, [199, 135]), Row("sampling-2x2.jpg", 33, [33, 22]),
        Row("sampling-2x2.jpg", 1, [1, 1]), Row("sampling-4x1.jpg", 7, [7, 5]),
    ])
    func `the longer side is exact, and the other keeps the ratio to the pixel`(row: Row) throws {
        let policy = ReducePolicy(maximumDimension: row.limit)
        let copy = try Workbench().encoded(try Fixture.bytes(row.name), policy: policy)
        let picture = try BaselinePicture(copy.bytes)
        #expect(copy.size == row.size)
        #expect([picture.width, picture.height] == row.size)
    }

    @Test(arguments: [1, 5, 16, 31, 64, 100, 127, 128])
    func `a flat picture stays flat to its edges, at every size`(limit: Int) throws {
        let bytes = try JPEGSegments.flat(width: 128, height: 96, like: try Fixture.bytes("sampling-2x2.jpg"))
        let copy = try Workbench().encoded(bytes, policy: ReducePolicy(maximumDimension: limit))
        for plane in try BaselinePicture(copy.bytes).planes {
            #expect(Set(plane.samples) == [128])
        }
    }
}
