import SyncEngine
import SystemPackage
import Testing

@Suite struct PathPatternTests {
    @Test(
        arguments: [
            ("/p/Paris/*.jpg", "/p/Paris/1.jpg", true),
            ("/p/Paris/*.jpg", "/p/Paris/day/1.jpg", false),
            ("/p/Paris/*.jpg", "/p/Paris/.hidden.jpg", false),
            ("/p/Paris/.h*.jpg", "/p/Paris/.hidden.jpg", true),
            ("/p/Paris/IMG_00?.jpg", "/p/Paris/IMG_007.jpg", true),
            ("/p/Paris/IMG_00?.jpg", "/p/Paris/IMG_0070.jpg", false),
            ("/p/Paris/IMG_00[1-3].jpg", "/p/Paris/IMG_002.jpg", true),
            ("/p/Paris/IMG_00[1-3].jpg", "/p/Paris/IMG_004.jpg", false),
            // A folder that is meant is taken whole.
            ("/p/Paris*", "/p/Paris 2019/day/1.jpg", true),
            ("/p/*", "/p/Paris/.hidden.jpg", true),
            ("/p/*/day", "/p/Paris/day/1.jpg", true),
            ("/p/*/day", "/p/Paris/night/1.jpg", false),
            ("/p/*/*/*", "/p/Paris/1.jpg", false),
            ("/p/Zürich*/1.jpg", "/p/Zürich 1/1.jpg", true),
        ] as [(FilePath, FilePath, Bool)])
    func `wildcards mean what they mean to a shell`(pattern: FilePath, path: FilePath, isMeant: Bool) throws {
        #expect(try #require(PathPattern(pattern, isName: { _ in false })).matches(path) == isMeant)
    }

    @Test(
        arguments: [("/p/Paris*/day/1.jpg", "/p"), ("/*", "/"), ("/p/q/IMG_[12].jpg", "/p/q")]
            as [(FilePath, FilePath)])
    func `what is looked through begins above the first wildcard`(pattern: FilePath, folder: FilePath) throws {
        #expect(try #require(PathPattern(pattern, isName: { _ in false })).folder == folder)
    }

    @Test func `a path without a wildcard is no pattern`() {
        #expect(PathPattern("/p/Paris/1.jpg", isName: { _ in false }) == nil)
    }

    @Test func `a name that looks like a wildcard is none`() throws {
        let names: Set<FilePath> = ["/p/Rome [1]", "/p/Rome [1]/x[1].jpg"]
        #expect(PathPattern("/p/Rome [1]/x[1].jpg", isName: { names.contains($0) }) == nil)
        let pattern = try #require(PathPattern("/p/Rome [1]/*.jpg", isName: { names.contains($0) }))
        #expect(pattern.folder == "/p/Rome [1]")
        #expect(pattern.matches("/p/Rome [1]/x1.jpg") && !pattern.matches("/p/Rome 1/x1.jpg"))
        #expect(pattern.below("/q").matches("/q/x1.jpg"))
    }
}
