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
}
