import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

@Suite struct SharedFilmTests {
    private let tree = try? TemporaryTree()

    private func film(_ name: String) throws -> FilePath {
        try #require(tree).write(try Fixture.bytes("films/\(name)"), to: name)
    }

    @Test(arguments: [("place.mp4", FilmType.mp4), ("apple.mov", .quickTime)])
    func `a film is shared without its place and its camera, from the disk as from memory`(
        name: String, type: FilmType
    ) throws {
        let bytes = try Fixture.bytes("films/\(name)")
        let copy = try SharedPhotoMaker().sharedFilm(.file(try film(name)), as: type)
        let patched = try copy.patched(bytes)
        #expect(copy.digest == ContentDigest(of: patched))
        #expect([copy.width, copy.height] == [64, 48])
        #expect(copy.duration == .milliseconds(1_200))
        #expect(copy.type == type.mediaType)
        for secret in ["34.6937", "Acme", "Apple", "iPhone"] {
            #expect(patched.firstRange(of: Array(secret.utf8)) == nil, "\(secret)")
        }
        let ofBytes = try SharedPhotoMaker().sharedFilm(.bytes(bytes), as: type)
        #expect(try ofBytes.reduced() == patched)
        #expect(ofBytes.digest == copy.digest)
    }

    @Test func `a film of which nothing can be taken out is not shared, and the reason is told`() throws {
        let path = try #require(tree).write(PlacedFile.mp4() + PlacedFile.box("moof", [0]), to: "a.mp4")
        let error = #expect(throws: PhotoError.self) { _ = try SharedPhotoMaker().sharedFilm(.file(path), as: .mp4) }
        #expect(error?.code == .tellsPlace)
        #expect(error?.message == "what it tells of you besides its pictures cannot be taken out of this film")
        #expect(throws: try #require(error)) { try SharedPhotoMaker().requireSharable(film: path, as: .mp4) }
        #expect(throws: Never.self) { try SharedPhotoMaker().requireSharable(film: film("place.mp4"), as: .mp4) }
    }

    @Test func `a film without a size is not shared`() throws {
        let path = try #require(tree).write(PlacedFile.mp4(handler: "soun"), to: "a.mp4")
        let error = #expect(throws: PhotoError.self) { _ = try SharedPhotoMaker().sharedFilm(.file(path), as: .mp4) }
        #expect(error?.message == "its width and height cannot be read")
        #expect(throws: try #require(error)) { try SharedPhotoMaker().requireSharable(film: path, as: .mp4) }
    }

    // MARK: Posters

    /// A folder for `PATH` with a program called ffmpeg.
    private func path(with script: String) throws -> String {
        let tree = try #require(tree)
        let program = try tree.writeProgram("#!/bin/sh\n\(script)\n", to: "bin/ffmpeg")
        return program.removingLastComponent().string + ":/usr/bin:/bin"
    }

    /// - Parameter timeout: ffmpeg, and what stands for it, runs behind all others, on a machine that may be busy.
    private func poster(
        of name: String, path: String, timeout: Duration = .seconds(300),
        report: @escaping @Sendable (String) -> Void = { _ in }, tries: Int = 1
    ) throws -> StoredCopy? {
        let frames = try #require(FilmFrames(path: path, timeout: timeout, report: report))
        let maker = SharedPhotoMaker(frames: frames)
        var poster: StoredCopy?
        for _ in 0..<tries { poster = try maker.poster(of: try film(name), lasting: .milliseconds(1_200)) }
        return poster
    }

    @Test(
        .enabled(if: !FilmTool.isMissing, "needs ffmpeg (Debian: ffmpeg)"),
        arguments: [("place.mp4", [64, 48]), ("portrait.mp4", [48, 64])])
    func `the poster of a film is a clean upright JPEG`(name: String, size: [Int]) throws {
        let poster = try #require(try poster(of: name, path: "/usr/local/bin:/usr/bin:/bin"))
        #expect(poster.type == .jpeg)
        #expect([poster.width, poster.height] == size)
        let bytes = try poster.reduced()
        #expect(MediaType(sniffing: bytes) == .jpeg)
        #expect(bytes.firstRange(of: Array("Lavc".utf8)) == nil)
    }

    @Test(arguments: [
        ("exit 3", "makes no picture of a film"), ("echo boom >&2; exit 1", "boom"),
        ("echo rubbish", "makes no picture"),
        ("kill -9 $$", "makes no picture"), ("exec sleep 600", "it did not end within 2 seconds"),
        (":", "makes no picture"),
        ("yes", "its answer was too long"),
    ])
    func `a program that fails, hangs or writes rubbish makes no poster, and that is told once`(
        script: String, words: String
    ) throws {
        let told = Lock<[String]>([])
        let poster = try poster(
            of: "place.mp4", path: try path(with: script), timeout: .seconds(script.contains("sleep") ? 2 : 300),
            report: { text in told.withLock { $0.append(text) } }, tries: 2)
        #expect(poster == nil)
        let texts = told.withLock { $0 }
        #expect(texts.count == 1)
        #expect(texts.first?.contains(words) == true, "\(texts)")
        #expect(texts.first?.hasSuffix("it is shared without one") == true)
    }

    @Test func `the program gets one file, no network, and nothing of our environment`() throws {
        let tree = try #require(tree)
        let script = "echo \"$@\" > \(tree.path("words").string); env >> \(tree.path("words").string); exit 1"
        _ = try poster(of: "place.mp4", path: try path(with: script))
        let words = String(decoding: try tree.read("words"), as: UTF8.self)
        #expect(words.contains("-nostdin") && words.contains("-protocol_whitelist file,pipe -f mov"))
        #expect(words.contains("-ss 0.600 -i file:\(tree.path("place.mp4").string) "))
        #expect(!words.contains("HOME="))
    }

    @Test func `without ffmpeg there is no poster, and nobody is told`() throws {
        #expect(FilmFrames(path: "/nonexistent:relative:") == nil)
        #expect(try SharedPhotoMaker().poster(of: try film("place.mp4"), lasting: nil) == nil)
    }
}

/// ffmpeg is there in CI: a run there does not pass by leaving these tests out.
private enum FilmTool {
    static var isMissing: Bool {
        !FilePath("/usr/bin/ffmpeg").allows(.execute) && ProcessInfo.processInfo.environment["CI"] == nil
    }
}
