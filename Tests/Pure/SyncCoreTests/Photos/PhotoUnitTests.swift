import SyncCore
import SystemPackage
import Testing

@Suite struct PhotoUnitTests {
    private typealias Unit = PhotoUnit<FilePath.Component>

    /// `photo: companion role, …` for each unit.
    private func units(_ names: [String]) -> [String] {
        Unit.units(of: names.compactMap { FilePath.Component($0) }, name: \.self).map { unit in
            "\(unit.photo): " + unit.companions.map { "\($0.member) \($0.role)" }.joined(separator: ", ")
        }
    }

    @Test(arguments: [
        (["IMG_1.HEIC", "IMG_1.MOV", "IMG_1.AAE"], ["IMG_1.HEIC: IMG_1.MOV movie, IMG_1.AAE sidecar"]),
        (["DSC_2.xmp", "DSC_2.NEF", "DSC_2.JPG"], ["DSC_2.JPG: DSC_2.xmp sidecar, DSC_2.NEF raw"]),
        (["a.cr2", "a.cr2.xmp", "a.jpg", "a.jpg.xmp"], ["a.jpg: a.cr2 raw, a.cr2.xmp sidecar, a.jpg.xmp sidecar"]),
        (["a.CR2", "a.xmp"], ["a.CR2: a.xmp sidecar"]),
        (["film.mov", "film.xmp"], ["film.mov: film.xmp sidecar"]),
        (
            ["IMG_E7.JPG", "IMG_7.HEIC", "IMG_O7.AAE", "IMG_7.AAE"],
            ["IMG_7.HEIC: IMG_O7.AAE sidecar, IMG_7.AAE sidecar"]
        ),
        (["a.b.jpg", "a.b.xmp", "a.jpg"], ["a.b.jpg: a.b.xmp sidecar"]),
        (["D.ARW", "D.HIF", "D.xmp"], ["D.HIF: D.ARW raw, D.xmp sidecar"]),
        (["a.jxl", "a.xmp"], ["a.jxl: a.xmp sidecar"]), (["a.mts", "a.xmp"], ["a.mts: a.xmp sidecar"]),
    ])
    func `names tell what belongs to a photo`(names: [String], expected: [String]) {
        #expect(units(names) == expected)
    }

    @Test(arguments: [
        ["a.jpg", "b.xmp", "c.mov"], ["a.xmp", "a.aae"], ["a.jpg", "A.xmp"], ["a.jpg", "a.txt", "a.json"],
        [".xmp", "a.jpg"], ["a.mov", "a.mp4"], ["a.png", "a.mov"], ["a.nef", "a.mov"], ["a.jpg", "a.png"],
        ["a.jpg", "a.avi"],
    ])
    func `what stands for itself is no unit`(names: [String]) {
        #expect(units(names) == [])
    }

    @Test func `of several pictures the one that cameras make is the photo, and the others stand for themselves`() {
        #expect(units(["a.png", "a.jpg", "a.xmp", "a.heic"]) == ["a.heic: a.xmp sidecar"])
    }

    @Test(arguments: [
        (["a.JPG", "a.jpg", "a.jpg.xmp"], ["a.jpg: a.jpg.xmp sidecar"]),
        (["a.JPG", "a.JPG.xmp", "a.jpg", "a.jpg.xmp"], ["a.JPG: a.JPG.xmp sidecar", "a.jpg: a.jpg.xmp sidecar"]),
        (["a.jpg", "a.png", "a.png.xmp", "a.xmp"], ["a.jpg: a.xmp sidecar", "a.png: a.png.xmp sidecar"]),
        (["a.JPG", "a.jpg.xmp"], ["a.JPG: a.jpg.xmp sidecar"]),
    ])
    func `a sidecar with the whole name of a file is of that one`(names: [String], expected: [String]) {
        #expect(units(names) == expected)
    }

    @Test func `one that is gone is not the photo as long as another one is there`() throws {
        let names = ["a.heic", "a.jpg", "a.xmp"].compactMap { FilePath.Component($0) }
        let units = Unit.units(of: names, isThere: { $0 != names[0] }, name: \.self)
        #expect(units.map(\.photo) == [names[1]])
        #expect(Unit.units(of: names, isThere: { _ in false }, name: \.self).map(\.photo) == [names[0]])
    }

    @Test func `names that are no UTF-8 are told apart by their bytes`() throws {
        let names = try [[0xFF], [0xFE]].flatMap { stem in
            try [".jpg", ".xmp"].map { try #require(FilePath.Component(bytes: stem + Array($0.utf8))) }
        }
        let found = Unit.units(of: names, name: \.self)
        #expect(found.map(\.photo) == [names[0], names[2]])
        #expect(found.map { $0.companions.map(\.member) } == [[names[1]], [names[3]]])
    }

    @Test(arguments: [
        ("IMG_0001.HEIC", ["IMG_0001", "IMG_O0001"]), ("IMG_O0001.AAE", ["IMG_0001", "IMG_O0001"]),
        ("a.jpg.xmp", ["a"]),
    ])
    func `a name tells what the names beside it begin with`(name: String, prefixes: [String]) throws {
        let component = try #require(FilePath.Component(name))
        let unit = try #require(UnitName(component))
        #expect(unit.prefixes == prefixes.map { Array($0.utf8) })
    }
}
