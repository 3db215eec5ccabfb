import Glibc
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct FolderPlaceTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
        try tree.makeFolder("store/objects")
        try tree.makeFolder("other")
    }

    private func place(_ name: String) -> FolderPlace { FolderPlace(tree.path(name)) }

    @Test func `a folder is in one that is named, led to by a link, or not there yet`() throws {
        #expect(symlink("store/objects", tree.path("link").string) == 0)
        for name in ["store", "store/objects", "store/new/one", "link", "link/new", "other/../store"] {
            #expect(place(name).isIn(place("store")), "\(name)")
        }
        for name in ["", "other", "store2", "other/store"] { #expect(!place(name).isIn(place("store")), "\(name)") }
        #expect(place("new/one").isIn(place("new")) && !place("new").isIn(place("new/one")))
        #expect(place("link").relation(to: place("store/objects")) == .same)
        #expect(place("link").relation(to: place("store")) != .same)
        #expect(place("link").relation(to: place("store")) == .inside)
        for name in ["store", ""] { #expect(place(name).relation(to: place("link")) == .around) }
        #expect(place("other").relation(to: place("link")) == nil)
    }

    @Test(
        .enabled(if: geteuid() == 0, "mounting needs root"),
        arguments: [
            ("store", "mount", true), ("store", "mount/new", true), ("store/objects", "mount/new", true),
            ("", "mount/store/new", true), ("other", "mount", false), ("", "mount/other", false),
        ])
    func `a bind mount of a folder, of one in it or around it is no other place`(
        source: String, name: String, isIn: Bool
    ) throws {
        let target = try tree.makeFolder("mount")
        try #require(mount(tree.path(source).string, target.string, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(target.string, Int32(MNT_DETACH)) }
        #expect(place(name).isIn(place("store")) == isIn)
        if source == "store", name == "mount" { #expect(place(name).relation(to: place("store")) == .same) }
    }
}
