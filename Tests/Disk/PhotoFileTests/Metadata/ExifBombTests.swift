import Foundation
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// EXIF blocks that lead a reader from directory to directory, or to one long value, again and again. Without a bound
/// the larger ones take hours of the processor; those are counted, and not those that a busy machine lets pass meanwhile.
@Suite struct ExifBombTests {
    enum Bomb: CaseIterable, CustomTestStringConvertible {
        case exifPointers, gpsPointers, interopPointers, nested, oneValue, itself, thumbnailChain, makerNotes

        var testDescription: String { "\(self)" }
    }

    /// Runs what must not take long: seconds of this thread's own work.
    private func bounded<Value>(_ work: () throws -> Value) rethrows -> Value {
        func worked() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec
        }
        let before = worked()
        defer { #expect(worked() - before < 60) }
        return try work()
    }

    /// An entry of a little-endian directory.
    private static func entry(_ tag: Int, type: Int = 4, count: Int = 1, value: Int) -> [UInt8] {
        number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
    }

    private static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func directory(_ entries: [[UInt8]], next: Int = 0) -> [UInt8] {
        number(entries.count, 2) + entries.flatMap(\.self) + number(next, 4)
    }

    /// - Parameter size: bytes, about; 65,527 at most.
    static func block(_ bomb: Bomb, size: Int) -> [UInt8] {
        let header = Array("II*\0".utf8) + number(8, 4)
        let many = (size - 200) / 24
        func pointing(_ outer: Int, _ inner: Int) -> [UInt8] {
            let second = 8 + 6 + 12 * many
            return header + directory((0..<many).map { _ in entry(outer, value: second) })
                + directory((0..<many).map { _ in entry(inner, value: 8) })
        }
        switch bomb {
        case .exifPointers: return pointing(0x8769, 0x8769)
        case .gpsPointers: return pointing(0x8825, 0x8825)
        case .interopPointers: return pointing(0x8769, 0xA005)
        case .itself: return header + directory([entry(0x8769, value: 8), entry(0x8825, value: 8)], next: 8)
        case .nested:
            // Each of five directories points twelve times at the next one.
            let length = 2 + 12 * 12 + 4
            return header
                + (1...5).flatMap { level in
                    directory((0..<12).map { _ in entry(level == 1 ? 0x8769 : 0xA005, value: 8 + level * length) })
                } + [UInt8](repeating: 0, count: size / 4)
        case .oneValue:
            let values = (0..<many).map { entry(0x9000 + $0 % 4_096, type: 7, count: size / 3, value: size / 2) }
            return header + directory(values) + [UInt8](repeating: 1, count: size / 2)
        case .thumbnailChain:
            return header + directory([entry(0x0112, type: 3, value: 1)], next: 26)
                + directory((0..<many * 2).map { _ in entry(0x8769, value: 26) }, next: 26)
        case .makerNotes:
            let notes = (0..<many).map { _ in entry(0x927C, type: 7, count: size / 3, value: size / 2) }
            return header + directory([entry(0x8769, value: 26)])
                + directory(notes) + Array("OLYMP\0\u{1}\0".utf8) + [UInt8](repeating: 1, count: size / 2)
        }
    }

    @Test(
        arguments: Bomb.allCases, [7_000, 29_000, 65_000])
    func `a block that leads in circles is read and corrected once`(bomb: Bomb, size: Int) {
        bounded {
            let block = ExifBlock(bytes: Array(Self.block(bomb, size: size).prefix(65_527)))
            #expect(block.summary.taken == nil)
            let size = PixelSize(width: 20, height: 10)
            #expect((block.corrected(size: size)?.bytes.count ?? 0) <= block.bytes.count)
            #expect((block.withoutPlace(size: size)?.bytes.count ?? 0) <= 4_096)
        }
    }

    @Test(arguments: Bomb.allCases)
    func `a photo with such a block is stored without it, and its picture is whole`(bomb: Bomb) throws {
        let picture = try Fixture.bytes("sampling-1x1.jpg")
        let block = Array("Exif\0\0".utf8) + Self.block(bomb, size: 60_000).prefix(65_000)
        let length = block.count + 2
        let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + block
        let photo = Array(picture.prefix(2)) + segment + picture.dropFirst(2)
        try bounded {
            let copy = try Workbench().copy(of: photo, policy: ReducePolicy(maximumDimension: 100))
            #expect(try BaselinePicture(copy.reduced()).planes.isEmpty == false)
        }
    }

    @Test func `what stands beside a pointer that is repeated is read all the same`() throws {
        let exif = 8 + 2 + 3 * 12 + 4
        let header = Array("II*\0".utf8) + Self.number(8, 4)
        let image = Self.directory([
            Self.entry(0x0112, type: 3, value: 6), Self.entry(0x8769, value: exif), Self.entry(0x8769, value: exif),
        ])
        let time = exif + 2 + 12 + 4
        let block = ExifBlock(
            bytes: header + image + Self.directory([Self.entry(0x9003, type: 2, count: 20, value: time)])
                + Array("2024:06:15 07:30:00\0".utf8))
        #expect(block.summary.orientation == 6)
        #expect(block.summary.taken?.text == "2024:06:15 07:30:00")
        #expect(block.corrected(size: PixelSize(width: 20, height: 10)) == nil)
    }
}
