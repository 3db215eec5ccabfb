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

    /// A camera's photo of 200 × 136 pixels with its position and maker notes, taken so many minutes after 10 o'clock on
    /// 2024-06-15. Photos with different numbers differ in that time, which their shared copies keep.
    static func taken(_ number: Int) throws -> [UInt8] {
        let camera = cameras[number % cameras.count]
        let (hours, minutes) = (10 + number / 60, number % 60)
        let time = "2024:06:15 \(hours):\(minutes < 10 ? "0" : "")\(minutes):00"
        return try fixture(camera.name).replacing(Array(camera.time.utf8), with: Array(time.utf8))
    }

    private static let cameras: [(name: String, time: String)] = [
        ("camera-nikon.jpg", "2008:10:22 16:28:39"), ("camera-canon.jpg", "2015:02:09 22:47:44"),
        ("camera-iphone.jpg", "2015:04:10 20:12:23"),
    ]

    /// One that is longer than any stored copy may be.
    static func long() throws -> [UInt8] { try fixture("size-65500x1.jpg") }

    /// One that was cut off.
    static func truncated(_ number: Int) throws -> [UInt8] { Array(try unique(number).prefix(600)) }

    /// The first bytes of a HEIF or PNG file, and noise.
    static let heif = Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8) + [UInt8](repeating: 0xA5, count: 5_000)
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0x5A, count: 3_000)

    /// The first bytes of a JPEG XL or Photoshop file, and noise. Nothing here decodes such a file.
    static let jxl: [UInt8] = [0xFF, 0x0A] + [UInt8](repeating: 0xA5, count: 5_000)
    static let psd = Array("8BPS".utf8) + [UInt8](repeating: 0x5A, count: 3_000)

    /// Puts a comment segment (ITU-T T.81, B.2.4.5) behind the start marker.
    private static func commented(_ photo: [UInt8], _ number: Int) -> [UInt8] {
        let text = Array("photo \(number)".utf8)
        let length = text.count + 2
        return photo.prefix(2) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + text + photo.dropFirst(2)
    }

    static func fixture(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Disk/PhotoFixtures")
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }
}
