import SyncCore
import SyncPhotos
import Testing

/// A damaged file is an error with libjpeg's words; what only looks odd is not.
@Suite struct DamageTests {
    private let policy = ReducePolicy(maximumDimension: 100)

    private func error(_ bytes: [UInt8], name: String = "photo.jpg") -> PhotoError? {
        #expect(throws: PhotoError.self) { _ = try Workbench().copy(of: bytes, named: name, policy: policy) }
    }

    @Test(
        arguments: [
            "sampling-2x2.jpg", "coding-progressive.jpg", "coding-arithmetic.jpg", "coding-restart-rows.jpg",
            "coding-multiscan.jpg",
        ])
    func `a file that was cut off is truncated, wherever it was cut`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for length in stride(from: 4, to: bytes.count - 2, by: 97) {
            #expect(error(Array(bytes.prefix(length)))?.code == .truncated)
        }
    }

    @Test func `a missing end marker alone is a truncated file`() throws {
        let error = error(try Fixture.bytes("sampling-2x2.jpg").dropLast(2))
        #expect(error?.code == .truncated)
        #expect(error?.message == "the file ends before its picture does (Premature end of JPEG file)")
    }

    @Test func `a scan that ends early is corrupt`() throws {
        var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        let scan = try #require(file.segments.lastIndex { $0.marker == 0xDA })
        file.segments[scan].entropy.removeLast(200)
        let error = error(file.bytes)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("premature end of data segment") == true)
    }

    @Test func `a scan with data left over is corrupt: the decoder fell out of step`() throws {
        var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        let scan = try #require(file.segments.lastIndex { $0.marker == 0xDA })
        file.segments[scan].entropy += file.segments[scan].entropy.suffix(100)
        let error = error(file.bytes)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("extraneous bytes before marker") == true)
    }

    @Test func `a lost restart interval is corrupt`() throws {
        var file = try JPEGSegments(try Fixture.bytes("coding-restart-rows.jpg"))
        let scan = try #require(file.segments.lastIndex { $0.marker == 0xDA })
        let entropy = file.segments[scan].entropy
        let second = try #require(entropy.firstRange(of: [0xFF, 0xD1]))
        let third = try #require(entropy.firstRange(of: [0xFF, 0xD2]))
        file.segments[scan].entropy.removeSubrange(second.lowerBound..<third.lowerBound)
        #expect(error(file.bytes)?.code == .corrupt)
    }

    @Test(
        arguments: [
            "behind the end", "padding before the end", "between header segments",
        ])
    func `what cameras write beside the picture is no damage`(oddity: String) throws {
        var bytes = try Fixture.bytes("sampling-2x2.jpg")
        switch oddity {
        case "behind the end":
            bytes += try Fixture.bytes("size-16x16.jpg") + [1, 2, 3]
        case "padding before the end":
            bytes.insert(contentsOf: [UInt8](repeating: 0, count: 30), at: bytes.count - 2)
        default:
            bytes.insert(contentsOf: [0x11, 0x22, 0x33, 0x44, 0x55], at: 20)
        }
        let copy = try Workbench().copy(of: bytes, policy: policy)
        let plain = try Workbench().copy(of: try Fixture.bytes("sampling-2x2.jpg"), policy: policy)
        #expect(try copy.reduced() == plain.reduced())
    }

    @Test(arguments: [1, 5, 12, 200])
    func `a few stray bytes before a restart marker are no damage; many are`(count: Int) throws {
        let plain = try Fixture.bytes("coding-restart-rows.jpg")
        var bytes = plain
        let marker = try #require(bytes.firstRange(of: [0xFF, 0xD1]))
        bytes.insert(contentsOf: [UInt8](repeating: 0x42, count: count), at: marker.lowerBound)
        if count > 100 {
            #expect(error(bytes)?.code == .corrupt)
        } else {
            #expect(try Workbench().encoded(bytes, policy: policy) == Workbench().encoded(plain, policy: policy))
        }
    }

    /// What is cut out of a file for its place, or for a share, may be the only trace of its damage.
    @Test(arguments: ["coding-arithmetic.jpg", "coding-progressive.jpg", "coding-multiscan.jpg"])
    func `bytes that do not belong there are told, whatever is cut out`(name: String) throws {
        var file = try JPEGSegments(try Fixture.bytes(name))
        let scan = try #require(file.segments.firstIndex { $0.marker == 0xDA })
        if name == "coding-arithmetic.jpg" {
            // A segment amid the data: behind it, such a decoder goes on with zeros, and says no word.
            let middle = file.segments[scan].entropy.count / 2
            let segment = [0xFF, 0xAE, 0, 20] + [UInt8](repeating: 7, count: 18)
            file.segments[scan].entropy.insert(contentsOf: segment, at: middle)
        } else {
            let comment = JPEGSegments.Segment(marker: 0xFE, body: [1], entropy: [UInt8](repeating: 7, count: 40))
            file.segments.insert(comment, at: scan + 1)
        }
        let bytes = file.bytes
        let code = try #require(error(bytes)?.code)
        let policy = ReducePolicy(stripLocation: true)
        let stored = #expect(throws: PhotoError.self) { _ = try Workbench().copy(of: bytes, policy: policy) }
        #expect(stored?.code == code)
        for size in [SharedSize.full(PhotoLimits()), .reduced(policy)] {
            let shared = #expect(throws: PhotoError.self) {
                _ = try SharedPhotoMaker().sharedCopy(of: .bytes(bytes), size: size)
            }
            #expect(shared?.code == code)
        }
    }

    @Test func `flipped bits end in a copy or an error, never in a crash`() throws {
        let bytes = try Fixture.bytes("coding-progressive.jpg")
        let workbench = Workbench()
        for index in stride(from: 2, to: bytes.count, by: 23) {
            var damaged = bytes
            damaged[index] ^= UInt8(1 << (index % 8))
            do {
                _ = try workbench.copy(of: damaged, policy: policy)
            } catch let error as PhotoError {
                #expect(!error.message.isEmpty)
            }
        }
    }
}
