import Foundation

/// Photos to drop: small, real, and no two with the same bytes.
enum SamplePhoto {
    private static let fixtures = [
        "sampling-2x2.jpg", "camera-nikon.jpg", "orientation-6.jpg", "coding-progressive.jpg", "size-17x33.jpg",
    ]

    /// A JPEG of a few KiB. Photos with different numbers differ in a comment, and by that in everything that counts.
    static func unique(_ number: Int) throws -> [UInt8] {
        try commented(fixture(fixtures[number % fixtures.count]), number)
    }

    /// One that is longer than any stored copy may be.
    static func long() throws -> [UInt8] { try fixture("size-65500x1.jpg") }

    /// One that was cut off.
    static func truncated(_ number: Int) throws -> [UInt8] { Array(try unique(number).prefix(600)) }

    /// The first bytes of a HEIF or PNG file, and noise.
    static let heif = Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8) + [UInt8](repeating: 0xA5, count: 5_000)
    static let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0x5A, count: 3_000)

    /// Puts a comment segment (ITU-T T.81, B.2.4.5) behind the start marker.
    private static func commented(_ photo: [UInt8], _ number: Int) -> [UInt8] {
        let text = Array("photo \(number)".utf8)
        let length = text.count + 2
        return photo.prefix(2) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + text + photo.dropFirst(2)
    }

    private static func fixture(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Disk/PhotoFixtures")
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }
}
