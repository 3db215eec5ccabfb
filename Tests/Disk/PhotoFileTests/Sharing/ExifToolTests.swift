import Foundation
import SyncCore
import SyncPhotos
import SyncTestSupport
import SystemPackage
import Testing

/// The word of a reader that knows every camera's tags. CI has it; a developer's machine may not.
@Suite(
    .enabled(
        if: ExifTool.isInstalled || ProcessInfo.processInfo.environment["CI"] != nil,
        "needs exiftool (Debian: libimage-exiftool-perl)")
)
struct ExifToolTests {
    private static let cameras = ["canon", "iphone", "nikon", "offset", "profile"].map { "camera-\($0).jpg" }
    /// All that a shared copy may tell, by group.
    private static let allowed: [String: Set<String>] = [
        "IFD0": ["ModifyDate", "Orientation"],
        "ExifIFD": [
            "ExifVersion", "DateTimeOriginal", "CreateDate", "OffsetTime", "OffsetTimeOriginal",
            "OffsetTimeDigitized", "SubSecTime", "SubSecTimeOriginal", "SubSecTimeDigitized", "ColorSpace",
            "ExifImageWidth", "ExifImageHeight",
        ],
        "InteropIFD": ["InteropIndex"],
        "Adobe": ["DCTEncodeVersion", "APP14Flags0", "APP14Flags1", "ColorTransform"],
        "JFIF": ["JFIFVersion", "ResolutionUnit", "XResolution", "YResolution"],
    ]
    /// What it tells of the file and not from it.
    private static let beside = ["ExifTool", "System", "File", "Composite", "ICC"]
    /// Of a colour profile, what could name somebody or something.
    private static let profileTexts = [
        "ProfileDescription": "Colours", "ProfileCopyright": "None", "ProfileCMMType": "", "DeviceManufacturer": "",
        "DeviceModel": "", "ProfileCreator": "", "PrimaryPlatform": "Unknown ()", "DeviceMfgDesc": nil,
        "DeviceModelDesc": nil, "MakeAndModel": nil, "Metadata": nil, "ProfileDateTime": "2000:01:01 00:00:00",
    ]

    @Test(
        arguments: cameras + ["telling"],
        [.full(PhotoLimits()), .reduced(ReducePolicy(quality: 99)), .reduced(ReducePolicy(maximumDimension: 64))]
            as [SharedSize])
    func `it finds times, colours and orientation in a shared copy, and nothing else`(name: String, size: SharedSize)
        throws
    {
        let picture = try Fixture.bytes(name == "telling" ? "coding-cmyk.jpg" : name)
        let photo = name == "telling" ? try TellingPicture.file(picture) : picture
        let copy = try SharedPhotoMaker().sharedCopy(of: .bytes(photo), size: size)
        let tags = try ExifTool.tags(of: try copy.reduced())
        for tag in tags where !Self.beside.contains(where: { tag.group.hasPrefix($0) }) {
            #expect(Self.allowed[tag.group]?.contains(tag.name) == true, "[\(tag.group)] \(tag.name)")
        }
        for tag in tags where tag.group.hasPrefix("ICC") {
            guard let expected = Self.profileTexts[tag.name] else { continue }
            #expect(tag.value == expected, "[\(tag.group)] \(tag.name)")
        }
        #expect(tags.filter { ["Warning", "Error", "Comment"].contains($0.name) }.map(\.value) == [])
        #expect(tags.contains { $0.name == "DateTimeOriginal" })
    }

    @Test(
        arguments: cameras,
        [2_048, 64])
    func `with strip_location it finds no position, maker note, XMP or IPTC in a stored copy`(
        name: String, dimension: Int
    ) throws {
        let policy = ReducePolicy(maximumDimension: dimension, quality: 100, stripLocation: true)
        let photo = try Fixture.bytes(name)
        let copy = try Workbench().copy(of: photo, policy: policy)
        let tags = try ExifTool.tags(of: copy.content == .unchanged ? photo : try copy.reduced())
        let known = ["IFD0", "ExifIFD", "InteropIFD", "Adobe", "JFIF"]
        let others = tags.filter { tag in
            !known.contains(tag.group) && !Self.beside.contains { tag.group.hasPrefix($0) }
        }
        #expect(others.map(\.name) == [])
        #expect(tags.filter { ["Warning", "Error"].contains($0.name) }.map(\.value) == [])
        #expect(tags.contains { $0.name == "DateTimeOriginal" } && tags.contains { $0.name == "Model" })
        #expect(!tags.contains { $0.name.hasPrefix("GPS") || $0.name == "ImageDescription" })
    }
}

private enum ExifTool {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/exiftool")

    static func tags(of bytes: [UInt8]) throws -> [(group: String, name: String, value: String)] {
        let tree = try TemporaryTree()
        let path = try tree.write(bytes, to: "copy.jpg")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/exiftool")
        process.arguments = ["-a", "-u", "-G1", "-s", path.string]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            let head = parts[0].split(whereSeparator: { "[] ".contains($0) })
            return head.count < 2 || parts.count < 2
                ? nil : (String(head[0]), String(head[1]), parts[1].trimmingCharacters(in: .whitespaces))
        }
    }
}
