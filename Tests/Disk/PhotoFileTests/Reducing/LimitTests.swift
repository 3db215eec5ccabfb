import CSyncJPEG
import Glibc
import SyncCore
import SyncPhotos
import SyncTestSupport
import SystemPackage
import Testing

/// Limits are met before anything is decoded, and memory does not follow the picture's height.
@Suite struct LimitTests {
    private func error(_ bytes: [UInt8], _ limits: PhotoLimits) -> PhotoError? {
        #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: bytes, policy: ReducePolicy(limits: limits))
        }
    }

    @Test func `pixels beyond the limit`() throws {
        // The header alone is enough: there are no samples behind it.
        let bytes = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg")).resized(width: 60_000, height: 60_000).bytes
        let error = error(bytes, PhotoLimits())
        #expect(error?.code == .overLimit)
        #expect(error?.message == "over the limits: 60000 × 60000 pixels are more than the limit of 1000000000")
    }

    @Test func `bytes beyond the limit`() throws {
        let bytes = try Fixture.bytes("sampling-2x2.jpg")
        #expect(error(bytes, PhotoLimits(fileSize: Int64(bytes.count) - 1))?.code == .overLimit)
    }

    @Test(
        arguments: [
            ("coding-progressive.jpg", "progressive"), ("coding-multiscan.jpg", "multi-scan"),
        ])
    func `a progressive picture says what memory it needs before it takes any`(name: String, kind: String) throws {
        let bytes = try JPEGSegments(try Fixture.bytes(name)).resized(width: 30_000, height: 20_000).bytes
        let error = error(bytes, PhotoLimits())
        #expect(error?.code == .overLimit)
        #expect(error?.message.contains("a \(kind) picture of 30000 × 20000 pixels takes 1716 MiB") == true)
    }

    @Test func `a bomb of scans`() throws {
        var file = try JPEGSegments(try Fixture.bytes("coding-multiscan.jpg"))
        let scan = try #require(file.segments.firstIndex { $0.marker == 0xDA })
        file.segments.insert(contentsOf: [JPEGSegments.Segment](repeating: file.segments[scan], count: 100), at: scan)
        let error = error(file.bytes, PhotoLimits())
        #expect(error?.code == .overLimit)
        #expect(error?.message.contains("more than the limit of 100 scans") == true)
    }

    @Test(
        arguments: [
            (6_000, 4_000, 1, 4), (6_000, 4_000, 6, 8), (2_000, 1_000, 1, 2), (2_000, 60_000, 1, 2),
            (60_000, 2_000, 1, 8),
        ])
    func `the codec's heap for a baseline picture`(width: Int, height: Int, orientation: Int, mebibytes: Int) throws {
        let tree = try TemporaryTree()
        let bytes = try JPEGSegments.flat(width: width, height: height, like: try Fixture.bytes("sampling-2x2.jpg"))
        let path = try tree.write(bytes, to: "flat.jpg")
        let descriptor = try FileDescriptor.open(path, .readOnly)
        defer { try? descriptor.close() }
        var limits = CSyncJPEG_Limits(file_bytes: 1 << 30, pixels: 1 << 30, memory_bytes: 1 << 30, scans: 100)
        var options = CSyncJPEG_Options(
            max_dimension: 2_048, quality: 80, orientation: Int32(orientation), keep_iptc: true)
        var failure = CSyncJPEG_Failure()
        var output = CSyncJPEG_Output()

        let reader = try #require(CSyncJPEG_open(descriptor.rawValue, &limits, &failure))
        defer { CSyncJPEG_close(reader) }
        #expect(CSyncJPEG_reduce(reader, &options, nil, 0, &output, &failure) == CSYNC_JPEG_OK)
        defer { CSyncJPEG_freeOutput(&output) }
        #expect(Int(max(output.width, output.height)) == min(max(width, height), 2_048))
        #expect(output.peak_bytes < Int64(mebibytes) << 20)
    }
}
