extension ExifBlock.Summary {
    /// A new block that tells the times, the colour space and what a reader needs to show the picture, and nothing else.
    ///
    /// Nothing of the photo's own block is copied but numbers and the digits of times: a text could say anything.
    /// - Parameters:
    ///   - size: of the pixels as they lie in the file.
    ///   - orientation: of those pixels.
    /// - Returns: `nil` when there is nothing to tell.
    func sharedBlock(size: PixelSize, orientation: Int) -> ExifBlock? {
        guard taken ?? digitized ?? changed != nil || orientation > 1 || colourSpace != nil || isAdobeRGB else {
            return nil
        }
        func text(_ text: String?) -> TIFFDirectory.Value? { text.map { .text($0) } }
        // EXIF 2.32, 4.6: the tags in ascending order.
        let exif = TIFFDirectory([
            0x9000: .bytes(Array("0232".utf8)),
            0x9003: text(taken?.text),
            0x9004: text(digitized?.text),
            0x9010: text(changed?.offset),
            0x9011: text(taken?.offset),
            0x9012: text(digitized?.offset),
            0x9290: text(changed?.fraction),
            0x9291: text(taken?.fraction),
            0x9292: text(digitized?.fraction),
            0xA001: colourSpace.map { .short($0) },
            0xA002: .long(size.width),
            0xA003: .long(size.height),
            0xA005: isAdobeRGB ? .directory(TIFFDirectory([0x0001: .text("R03")])) : nil,
        ])
        let image = TIFFDirectory([
            0x0112: orientation > 1 ? .short(orientation) : nil,
            0x0132: text(changed?.text),
            0x8769: .directory(exif),
        ])
        return ExifBlock(bytes: image.block)
    }
}
