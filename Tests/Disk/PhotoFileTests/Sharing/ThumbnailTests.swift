import SyncCore
import Testing

@testable import SyncPhotos

@Suite struct ThumbnailTests {
    private let maker = SharedPhotoMaker()

    @Test(arguments: 1...8)
    func `a thumbnail is upright and says nothing`(orientation: Int) throws {
        let bytes = try TellingPicture.file(
            try Fixture.bytes("orientation-\(orientation).jpg"), orientation: orientation)
        let copy = try maker.thumbnail(of: .bytes(bytes), side: 75)
        let output = try copy.reduced()
        #expect(copy.width == 75 && copy.height == 51)
        let picture = try BaselinePicture(output)
        #expect(try Fixture.reference("reference-75x51.ppm").distance(to: picture, component: 0) < 2.6)
        #expect(output.firstRange(of: Array(TellingPicture.secret.utf8)) == nil)
        let file = try JPEGSegments(output)
        #expect(file.contents(of: 0xE1, startingWith: "").isEmpty)
        let colours = try #require(ICCColours(TellingPicture.profile)).profile
        #expect(file.contents(of: 0xE2, startingWith: "ICC_PROFILE\0").map { Array($0.dropFirst(2)) } == [colours])
    }

    @Test func `a photo that is smaller is not enlarged`() throws {
        let copy = try maker.thumbnail(of: .bytes(try Fixture.bytes("size-17x33.jpg")), side: 320)
        #expect(copy.width == 17 && copy.height == 33)
        #expect(try BaselinePicture(try copy.reduced()).height == 33)
    }

    @Test func `a damaged photo has no thumbnail`() throws {
        let bytes = try Fixture.bytes("sampling-2x2.jpg").dropLast(40)
        let error = #expect(throws: PhotoError.self) { _ = try maker.thumbnail(of: .bytes(Array(bytes)), side: 50) }
        #expect(error?.code == .truncated)
    }
}
