/// Tags of EXIF and TIFF by what they may tell (EXIF 2.32, TIFF 6.0).
///
/// What is kept is a list of what is known to tell no place: times, the camera and its lens, how the picture was taken,
/// colours, and who made it. Captions and keywords are not in it, for people write there where they were.
enum ExifTags {
    static let exifDirectory = 0x8769
    static let gpsDirectory = 0x8825
    static let interoperabilityDirectory = 0xA005
    static let makerNote = 0x927C
    static let orientation = 0x0112
    static let imageWidth = 0x0100
    static let imageHeight = 0x0101
    static let pixelWidth = 0xA002
    static let pixelHeight = 0xA003
    static let subDirectories = 0x014A
    static let xmp = 0x02BC
    static let iptc = 0x83BB
    static let photoshop = 0x8649

    /// Of the first directory of an EXIF block.
    static let image: Set<Int> = [
        imageWidth, imageHeight, 0x010F, 0x0110, orientation, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x013E,
        0x013F, 0x0211, 0x0213, 0x0214, 0x8298,
    ]

    /// Of the EXIF directory. Pressure and depth are not among them: they tell how high a place is.
    static let exif: Set<Int> = [
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835, 0x9000, 0x9003, 0x9004, 0x9010,
        0x9011, 0x9012, 0x9101, 0x9102, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920A,
        0x9214, 0x9290, 0x9291, 0x9292, 0xA000, 0xA001, pixelWidth, pixelHeight, 0xA20B, 0xA20E, 0xA20F, 0xA210, 0xA214,
        0xA215, 0xA217, 0xA300, 0xA301, 0xA401, 0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A,
        0xA40C, 0xA430, 0xA431, 0xA432, 0xA433, 0xA434, 0xA435, 0xA460, 0xA461, 0xA500,
    ]

    /// Of the interoperability directory: which colours, in DCF's words.
    static let interoperability: Set<Int> = [0x0001, 0x0002]
}
