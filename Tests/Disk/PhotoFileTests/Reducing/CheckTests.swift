import SyncCore
import Testing

@testable import SyncPhotos

/// Pictures within the limit whose tables tell that encoding them anew would not make them smaller: they are decoded to their
/// end, and not encoded.
@Suite struct CheckTests {
    private static let policy = ReducePolicy(quality: 80)
    private static let cameras = ["camera-canon.jpg", "camera-iphone.jpg", "camera-nikon.jpg", "camera-profile.jpg"]

    /// A photo as a program writes it that encodes as we do.
    private func photo(_ name: String, quality: Int) throws -> [UInt8] {
        try Workbench().encoded(try Fixture.bytes(name), policy: ReducePolicy(quality: quality)).bytes
    }

    private func isAsCoarse(_ bytes: [UInt8]) throws -> Bool {
        try bytes.decoded(within: Self.policy.limits) { (reader) throws(PhotoError) in
            reader.isAsCoarse(as: Self.policy)
        }
    }

    @Test func `coarser tables and colours sampled alike are as coarse`() throws {
        #expect(try isAsCoarse(photo("camera-canon.jpg", quality: 60)))
        #expect(try isAsCoarse(photo("camera-canon.jpg", quality: 80)))
        #expect(try !isAsCoarse(photo("camera-canon.jpg", quality: 81)))
        #expect(try isAsCoarse(photo("coding-gray.jpg", quality: 70)))
        #expect(try !isAsCoarse(photo("coding-gray.jpg", quality: 90)))
        #expect(try !isAsCoarse(photo("coding-rgb.jpg", quality: 70)))
        #expect(try !isAsCoarse(photo("coding-cmyk.jpg", quality: 70)))
    }

    @Test func `one finer step, more of the colours, and many restarts are not`() throws {
        let coarse = try photo("camera-canon.jpg", quality: 60)
        var file = try JPEGSegments(coarse)
        let table = try #require(file.segments.firstIndex { $0.marker == 0xDB })
        // Behind the number of the table.
        file.segments[table].body[40] = 1
        #expect(try !isAsCoarse(file.bytes))
        for name in ["sampling-1x1.jpg", "sampling-2x1.jpg", "coding-restart-rows.jpg"] {
            var finest = try JPEGSegments(try Fixture.bytes(name))
            for index in finest.segments.indices where finest.segments[index].marker == 0xDB {
                for step in finest.segments[index].body.indices where step % 65 != 0 {
                    finest.segments[index].body[step] = 255
                }
            }
            #expect(try !isAsCoarse(finest.bytes), "\(name)")
        }
    }

    /// The number stands in the frame header, behind the factors of its component.
    @Test(arguments: 0..<3, [4, 63, 120, 200, 255] as [UInt8])
    func `a picture with the number of no table is damaged`(component: Int, number: UInt8) throws {
        var file = try JPEGSegments(try photo("camera-profile.jpg", quality: 80))
        let frame = try #require(file.segments.firstIndex { $0.marker == 0xC0 })
        file.segments[frame].body[6 + 3 * component + 2] = number
        let bytes = file.bytes
        #expect(bytes.count > JPEGCopy.worthACheck)
        #expect(try !isAsCoarse(bytes))
        #expect(outcome { _ = try Workbench().copy(of: bytes, policy: Self.policy) } == .corrupt)
    }

    @Test(arguments: cameras, [50, 70, 80, 85, 92])
    func `it is decided as if it had been encoded`(name: String, quality: Int) throws {
        let bytes = try photo(name, quality: quality)
        let anew = try Workbench().encoded(bytes, policy: Self.policy).bytes
        let copy = try Workbench().copy(of: bytes, policy: Self.policy)
        #expect((copy.content == .unchanged) == (anew.count * 10 >= bytes.count * 9))
        #expect(quality > 80 || copy.content == .unchanged)
    }

    @Test func `damage is found as when it is encoded`() throws {
        let bytes = try photo("camera-profile.jpg", quality: 80)
        #expect(bytes.count > JPEGCopy.worthACheck)
        var damaged: [[UInt8]] = stride(from: bytes.count / 2, to: bytes.count, by: bytes.count / 40).map {
            Array(bytes.prefix($0))
        }
        damaged += stride(from: 1_000, to: bytes.count, by: bytes.count / 150).map { index in
            var copy = bytes
            copy[index] ^= UInt8(1 << (index % 8))
            return copy
        }
        var found = 0
        for bytes in damaged {
            let encoding = outcome { _ = try Workbench().encoded(bytes, policy: Self.policy) }
            #expect(outcome { _ = try Workbench().copy(of: bytes, policy: Self.policy) } == encoding)
            found += encoding == nil ? 0 : 1
        }
        #expect(found > 20)
    }

    private func outcome(_ work: () throws -> Void) -> PhotoError.Code? {
        do {
            try work()
            return nil
        } catch {
            return (error as? PhotoError)?.code
        }
    }

    @Test func `much behind the picture is left out all the same`() throws {
        let bytes = try photo("camera-profile.jpg", quality: 60)
        let copy = try Workbench().copy(of: bytes + [UInt8](repeating: 7, count: bytes.count / 4), policy: Self.policy)
        #expect(try copy.reduced().count < bytes.count * 11 / 10)
        #expect(copy.dropped.isEmpty == false)
    }
}
