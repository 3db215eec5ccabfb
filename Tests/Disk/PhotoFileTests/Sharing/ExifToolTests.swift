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

    private static let sizes: [SharedSize] = [
        .full(PhotoLimits()), .reduced(ReducePolicy(quality: 99)), .reduced(ReducePolicy(maximumDimension: 64)),
    ]

    @Test(arguments: cameras + ["telling"])
    func `it finds times, colours and orientation in a shared copy, and nothing else`(name: String) throws {
        let picture = try Fixture.bytes(name == "telling" ? "coding-cmyk.jpg" : name)
        let photo = name == "telling" ? try TellingPicture.file(picture) : picture
        let copies = try Self.sizes.map { try SharedPhotoMaker().sharedCopy(of: .bytes(photo), size: $0).reduced() }
        for (size, tags) in zip(Self.sizes.map(\.testDescription), try ExifTool.tags(of: copies)) {
            for tag in tags where !Self.beside.contains(where: { tag.group.hasPrefix($0) }) {
                #expect(Self.allowed[tag.group]?.contains(tag.name) == true, "\(size): [\(tag.group)] \(tag.name)")
            }
            for tag in tags where tag.group.hasPrefix("ICC") {
                guard let expected = Self.profileTexts[tag.name] else { continue }
                #expect(tag.value == expected, "\(size): [\(tag.group)] \(tag.name)")
            }
            #expect(tags.filter { ["Warning", "Error", "Comment"].contains($0.name) }.map(\.value) == [], "\(size)")
            #expect(tags.contains { $0.name == "DateTimeOriginal" }, "\(size)")
        }
    }

    @Test(arguments: cameras)
    func `with strip_location it finds no position, maker note, XMP or IPTC in a stored copy`(name: String) throws {
        let photo = try Fixture.bytes(name)
        let sizes = [2_048, 64]
        let copies = try sizes.map { size in
            let policy = ReducePolicy(maximumDimension: size, quality: 100, stripLocation: true)
            let copy = try Workbench().copy(of: photo, policy: policy)
            return copy.content == .unchanged ? photo : try copy.reduced()
        }
        let known = ["IFD0", "ExifIFD", "InteropIFD", "Adobe", "JFIF"]
        for (size, tags) in zip(sizes, try ExifTool.tags(of: copies)) {
            let others = tags.filter { tag in
                !known.contains(tag.group) && !Self.beside.contains { tag.group.hasPrefix($0) }
            }
            #expect(others.map(\.name) == [], "\(size)")
            #expect(tags.filter { ["Warning", "Error"].contains($0.name) }.map(\.value) == [], "\(size)")
            #expect(tags.contains { $0.name == "DateTimeOriginal" } && tags.contains { $0.name == "Model" }, "\(size)")
            #expect(!tags.contains { $0.name.hasPrefix("GPS") || $0.name == "ImageDescription" }, "\(size)")
        }
    }
}

private enum ExifTool {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/exiftool")

    typealias Tag = (group: String, name: String, value: String)

    /// Of each picture its tags. A start of the program takes longer than what it reads.
    static func tags(of pictures: [[UInt8]]) throws -> [[Tag]] {
        let tree = try TemporaryTree(in: .memory)
        let paths = try pictures.enumerated().map { try tree.write($1, to: "\($0).jpg") }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/exiftool")
        process.arguments = ["-a", "-u", "-G1", "-s"] + paths.map(\.string)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        // A line with its path comes before the tags of each, where there are several.
        let parts = text.split(separator: "======== ")
        try #require(parts.count == pictures.count)
        return parts.map { $0.split(separator: "\n").dropFirst().compactMap(tag) }
    }

    private static func tag(_ line: Substring) -> Tag? {
        let parts = line.split(separator: ":", maxSplits: 1)
        let head = parts[0].split(whereSeparator: { "[] ".contains($0) })
        return head.count < 2 || parts.count < 2
            ? nil : (String(head[0]), String(head[1]), parts[1].trimmingCharacters(in: .whitespaces))
    }
}
