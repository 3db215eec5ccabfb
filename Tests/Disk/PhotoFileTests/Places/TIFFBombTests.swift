import Foundation
import SyncCore
import Testing

@testable import SyncPhotos

/// A TIFF whose directories lie on each other, or go on with themselves, has more of them than its bytes: one of 700 KiB
/// took four gigabytes before it was refused.
@Suite struct TIFFBombTests {
    @Test func `a directory that goes on with itself is refused the second time`() {
        let entries = 60_000
        let bomb =
            Self.header + [UInt8(entries >> 8), UInt8(entries & 0xFF)]
            + (0..<entries).flatMap { _ in Self.entry(0x0100, count: 1, value: 7) } + 8.bigEndianBytes
        refuse(bomb)
    }

    @Test func `directories that lie on each other are refused before each of them is read`() {
        // The last two bytes of each entry are also the number of entries of a directory that begins there. What follows
        // it is read as the place of the next one: that is the first of them.
        let (count, entries, start) = (4_096, 20_000, 26 + 4 * 4_096)
        let places = (0..<count).flatMap { (start + 12 * $0 + 10).bigEndianBytes }
        let rows = (0..<entries + count + 2).flatMap { _ in Self.entry(0x0100, count: 1, value: entries) }
        refuse(Self.header + [0, 1] + Self.entry(0x014A, count: count, value: 26) + 0.bigEndianBytes + places + rows)
    }

    @Test func `directories that name each other again and again are refused`() {
        // The list of further directories names the one that it stands in.
        let list = (0..<4_096).flatMap { _ in 8.bigEndianBytes }
        refuse(Self.header + [0, 1] + Self.entry(0x014A, count: 4_096, value: 26) + 0.bigEndianBytes + list)
    }

    private static let header = Array("MM\0*".utf8) + 8.bigEndianBytes

    private func refuse(_ bomb: [UInt8]) {
        let before = Self.worked
        let error = #expect(throws: PhotoError.self) { _ = try TIFFCut.cut(bomb) }
        #expect(error?.code == .tellsPlace)
        // Of this thread's own work: not what a busy machine lets pass meanwhile.
        #expect(Self.worked - before < 60)
    }

    private static var worked: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec
    }

    private static func entry(_ tag: Int, count: Int, value: Int) -> [UInt8] {
        [UInt8(tag >> 8), UInt8(tag & 0xFF), 0, 4] + count.bigEndianBytes + value.bigEndianBytes
    }
}
