import Foundation
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct MachineZoneNameTests {
    @Test(arguments: [
        ("Asia/Tokyo", "Asia/Tokyo"), (":Europe/Berlin", "Europe/Berlin"), ("", "UTC"),
        (":/usr/share/zoneinfo/America/Los_Angeles", "America/Los_Angeles"),
        ("/usr/share/zoneinfo/posix/Asia/Kolkata", "Asia/Kolkata"), ("Middle-earth/Shire", nil),
    ])
    func `the zone is named as the C library finds it`(variable: String, name: String?) {
        #expect(
            MachineZoneName(variable).zone?.identifier
                == (name == "UTC" ? MachineZoneName("UTC").zone?.identifier : name))
    }

    @Test func `a machine without any zone is on UTC`() {
        let zone = MachineZoneName(nil, localTime: "/nonexistent/localtime").zone
        #expect(zone?.secondsFromGMT() == 0)
    }

    @Test(
        arguments: [
            // A link to a link, as alternatives and containers make them.
            (["localtime": "etc/localtime", "etc/localtime": "/usr/share/zoneinfo/Asia/Tokyo"], nil, "Asia/Tokyo"),
            // A link to a copied file tells no name.
            (["localtime": "copied"], "Europe/Berlin\n", "Europe/Berlin"),
            (["localtime": "copied"], "# by hand\n\n  Asia/Kolkata  \n", "Asia/Kolkata"),
            (["localtime": "localtime"], "Europe/Berlin\n", "Europe/Berlin"),
            (["localtime": "copied"], nil, nil), ([:], "Europe/Berlin\n", "Europe/Berlin"), ([:], "Mordor\n", nil),
        ] as [([String: String], String?, String?)])
    func `what the links of a machine do not tell is in its file`(
        links: [String: String], file: String?, name: String?
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "etc"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (link, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: link).path, withDestinationPath: target)
        }
        try file?.write(to: folder.appending(path: "timezone"), atomically: false, encoding: .utf8)
        let found = MachineZoneName(nil, localTime: FilePath(folder.path).appending("localtime"))
        #expect(found.zone?.identifier == name)
    }
}
