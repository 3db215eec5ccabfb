import SyncCore
import Testing

/// Which keys are those of projects, and of their earlier states.
@Suite struct ProjectKeysTests {
    @Test(
        arguments: [
            "users/ana/projects/projects.json": true, "users/ana/projects/a.jpg": true,
            "users/ana/projects/a-metadata.json": true,
            "users/ana/projects/a/versions/20260501T101500Z-9e107d9d.jpg": true,
            "users/ana/projects/projects/versions/20260501T101500Z-9e107d9d.json": true,
            "users/projects/projects/a.jpg": true, "users/projects/photos/a.dat": false,
            "users/projects/originals/a.dat": false, "users/ana/projects/notes.json": false,
            "users/ana/projects/sub/a.jpg": false, "users/ana/projects/a/versions/1.jpg": false,
            "users/ana/projects/sub/a/versions/20260501T101500Z-9e107d9d.jpg": false,
            "users/ana/projects/notes/versions/20260501T101500Z-9e107d9d.json": false,
            "users/ana/photos/projects/a.jpg": false, "gallery-archive/projects/projects/2026/05/a.jpg": false,
        ])
    func `what is of a project is told by its place, whatever users and folders are called`(
        key: String, isOfProject: Bool
    ) throws {
        #expect(try ObjectKey(key).isOfProject == isOfProject)
    }

    @Test(
        arguments: [
            "users/ana/projects/a/versions/20260501T101500Z-9e107d9d.jpg": true,
            "users/ana/projects/versions/versions/20260501T101500Z-0a-metadata.json": true,
            "users/versions/photos/a.dat": false, "users/versions/projects/a.jpg": false,
            "users/ana/projects/versions/a.jpg": false, "users/ana/projects/a/versions/1.jpg": false,
            "users/ana/projects/a/versions/20260501.jpg": false,
            "users/ana/projects/b/a/versions/20260501T101500Z-9e107d9d.jpg": true,
            "users/ana/projects/versions/20260501T101500Z-9e107d9d.jpg": false,
            "users/ana/projects/b/versions/a/20260501T101500Z-9e107d9d.jpg": false,
        ])
    func `an earlier state is told by its name, and a file in a folder of that name is none`(
        key: String, isVersion: Bool
    ) throws {
        #expect(try ObjectKey(key).isProjectVersion == isVersion)
    }

    struct Row {
        var file: String
        var kind: VersionedFile.Kind
        var name: String
        /// Of a version of it, below its folder of versions.
        var version: String

        init(_ file: String, _ kind: VersionedFile.Kind, _ name: String, _ version: String) {
            (self.file, self.kind, self.name, self.version) = (file, kind, name, version)
        }
    }

    @Test(
        arguments: [
            Row("a.jpg", .image, "a", "a/versions/20260501T101500Z-9e107d9d.jpg"),
            Row("a.b.PNG", .image, "a.b", "a.b/versions/20260501T101500Z-9e107d9d.PNG"),
            Row(
                "a-METADATA.json", .metadata, "a-metadata.json", "a/versions/20260501T101500Z-9e107d9d-metadata.json"),
            Row("projects.json", .list, "projects.json", "projects/versions/20260501T101500Z-9e107d9d.json"),
            Row("projects.JSON", .file, "projects.JSON", "projects/versions/20260501T101500Z-9e107d9d.JSON"),
            Row("a.json", .file, "a.json", "a/versions/20260501T101500Z-9e107d9d.json"),
            Row("scan", .file, "scan", "scan/versions/20260501T101500Z-9e107d9d"),
            Row("sub/a.jpg", .file, "sub/a.jpg", "sub/a/versions/20260501T101500Z-9e107d9d.jpg"),
            Row("b/projects.json", .file, "b/projects.json", "b/projects/versions/20260501T101500Z-9e107d9d.json"),
        ])
    func `a version tells of which file it is one`(row: Row) throws {
        let file = try #require(VersionedFile(try ObjectKey("users/ana/projects/\(row.file)")))
        #expect((file.kind, file.name) == (row.kind, row.name))
        let version = try ObjectKey("users/ana/projects/\(row.version)")
        #expect(file.isVersion(version))
        #expect(version.rawValue.hasPrefix(file.versions) && version.rawValue.hasSuffix(file.ending))
        let other = try #require(VersionedFile(try ObjectKey("users/ana/projects/other/\(row.file)")))
        #expect(!other.isVersion(version))
    }

    @Test(
        arguments: [
            ("a.jpg", "a/versions/20260501T101500Z-9e107d9d.json"),
            ("a.json", "a/versions/20260501T101500Z-9e107d9d.jpg"),
            ("sub/a.jpg", "sub/a/versions/20260501T101500Z-9e107d9d.png"), ("a.jpg", "a/versions/1.jpg"),
            ("projects.jpg", "projects/versions/20260501T101500Z-9e107d9d.json"),
            ("a.json", "a/versions/20260501T101500Z-9e107d9d-metadata.json"),
        ])
    func `files that share a folder of versions do not share versions`(file: String, version: String) throws {
        let file = try #require(VersionedFile(try ObjectKey("users/ana/projects/\(file)")))
        #expect(try !file.isVersion(ObjectKey("users/ana/projects/\(version)")))
    }
}
