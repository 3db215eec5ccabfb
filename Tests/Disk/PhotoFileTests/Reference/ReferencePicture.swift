/// A binary PPM: what a fixture should look like.
struct ReferencePicture {
    let width: Int
    let height: Int
    private let bytes: ArraySlice<UInt8>

    init(_ file: [UInt8]) throws {
        let fields = file.split(maxSplits: 4) { [0x20, 0x0A].contains($0) }
        guard fields.count == 5 || fields.count == 4 else { throw BaselinePicture.Unreadable() }
        let numbers = fields[1...3].compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 3 else { throw BaselinePicture.Unreadable() }
        width = numbers[0]
        height = numbers[1]
        bytes = file.suffix(width * height * 3)
    }

    /// Red, green, blue.
    func pixel(_ x: Int, _ y: Int) -> (Int, Int, Int) {
        let at = bytes.startIndex + (y * width + x) * 3
        return (Int(bytes[at]), Int(bytes[at + 1]), Int(bytes[at + 2]))
    }

    /// Y, Cb, Cr of a pixel (JFIF 1.02).
    private func colour(_ x: Int, _ y: Int) -> [Double] {
        let pixel = pixel(x, y)
        let (r, g, b) = (Double(pixel.0), Double(pixel.1), Double(pixel.2))
        return [
            0.299 * r + 0.587 * g + 0.114 * b,
            128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
            128 + 0.5 * r - 0.418688 * g - 0.081312 * b,
        ]
    }

    /// The mean distance of a component from that of a YCbCr picture, in steps of 255.
    func distance(to picture: BaselinePicture, component: Int) -> Double {
        let plane = picture.planes[component]
        let isHalved = plane.width < width && plane.height < height
        guard picture.width == width, picture.height == height else { return .infinity }
        var sum = 0.0
        for y in 0..<height {
            for x in 0..<width {
                let sample = Double(plane.sample(isHalved ? x / 2 : x, isHalved ? y / 2 : y))
                sum += abs(sample - colour(x, y)[component])
            }
        }
        return sum / Double(width * height)
    }
}
