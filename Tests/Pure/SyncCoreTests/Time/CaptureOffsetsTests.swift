import FoundationEssentials
import SyncCore
import Testing

@Suite struct CaptureOffsetsTests {
    private func time(_ text: String) throws -> CaptureTime { try #require(CaptureTime(text)) }

    @Test func `a camera without offsets has those of the phone beside it, by the nearest clock`() throws {
        let phone = ["2024-06-15T07:30:00+09:00", "2024-06-20T18:00:00+02:00", "2024-06-20T18:00:00+02:00"]
        let offsets = CaptureOffsets(try phone.map(time))
        for (camera, offset) in [
            ("2024-06-01T00:00:00", 540), ("2024-06-15T07:45:00", 540), ("2024-06-18T00:45:00", 540),
            ("2024-06-18T00:45:01", 120), ("2024-06-20T18:00:00", 120), ("2025-01-01T00:00:00", 120),
            ("2024-06-20T18:00:00-07:00", -420),
        ] {
            #expect(try offsets.offset(of: time(camera)) == offset, "\(camera)")
        }
        #expect(CaptureOffsets([]).offset(of: try time("2024-06-15T07:30:00")) == nil)
    }

    @Test func `a phone and a camera of one trip are in the order in which they were taken`() throws {
        let times = [
            "2024-06-15T07:30:00+09:00", "2024-06-15T07:35:00", "2024-06-15T07:40:00+09:00", "2024-06-15T09:00:00",
            "2024-06-15T02:00:01+02:00",
        ]
        let order = try times.map(time)
        let offsets = CaptureOffsets(order)
        #expect(order.shuffled().sorted { offsets.position(of: $0) < offsets.position(of: $1) } == order)
    }

    @Test func `where nobody knows an offset, the machine's zone gives the instant, and none the order`() throws {
        let camera = try time("2024-06-15T07:30:00")
        let offsets = CaptureOffsets([camera])
        #expect(
            offsets.instant(of: camera, zone: .fixed(540)) == Date(timeIntervalSince1970: 1_718_404_200))
        #expect(
            offsets.instant(of: camera, zone: .fixed(-420)) == Date(timeIntervalSince1970: 1_718_461_800))
        #expect(offsets.position(of: camera) == camera.clock)
        let phone = try time("2024-06-15T07:30:00+02:00")
        #expect(CaptureOffsets([phone]).instant(of: camera, zone: .fixed(-420)) == phone.instant)
    }
}

extension MachineZone {
    /// - Parameter offset: minutes ahead of UTC, at all times.
    static func fixed(_ offset: Int) -> MachineZone {
        MachineZone(atClock: { _ in offset }, atInstant: { _ in offset })
    }
}
