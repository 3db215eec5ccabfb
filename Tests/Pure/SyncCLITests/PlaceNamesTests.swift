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
        ("3 / 4 or and/or", "3 / 4 or and/or"), ("", ""),
    ])
    func `no place of this machine is left`(text: String, expected: String) {
        #expect(names.removed(from: text) == expected)
    }
}
