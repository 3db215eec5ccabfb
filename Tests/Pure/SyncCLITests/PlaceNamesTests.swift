import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct PlaceNamesTests {
    private let names = PlaceNames(
        [("/home/ana/Pictures", "Pictures"), ("/home/ana/Pictures/Trips", "Trips")], home: "/home/ana")

    @Test(arguments: [
        ("Gallery ~/Pictures: 3 photos", "Gallery Pictures: 3 photos"),
        ("/home/ana/Pictures/Trips/Rome/a.jpg is gone", "Trips/Rome/a.jpg is gone"),
        ("cannot read \"/mnt/disk/old.jpg\"", "cannot read \"old.jpg\""),
        ("see /var/lib/x/y.db, and ~/z.", "see y.db, and z."),
        ("s3://bucket/a/b and https://host/x", "s3://bucket/a/b and https://host/x"),
        ("open:/home/ben/a.jpg, [/mnt/x/b.jpg] “/mnt/c.jpg” file:///etc/d", "open:a.jpg, [b.jpg] “c.jpg” file:d"),
        ("\"/mnt/USB Disk/Ana/x.jpg\" is away", "\"x.jpg\" is away"),
        ("~/Pictures  3 photos", "Pictures    3 photos"),
        ("at http://box:8420/s/1/ now", "at http://box:8420/s/1/ now"),
        ("Rome/2024/a.jpg, 12/24 h", "Rome/2024/a.jpg, 12/24 h"),
        ("3 / 4 or and/or", "3 / 4 or and/or"), ("", ""),
    ])
    func `no place of this machine is left`(text: String, expected: String) {
        #expect(names.removed(from: text) == expected)
    }
}
