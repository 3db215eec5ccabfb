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
            "users/ana/projects/b/a/versions/20260501T101500Z-9e107d9d.jpg": false,
        ])
    func `an earlier state is told by its name, and a file in a folder of that name is none`(
        key: String, isVersion: Bool
    ) throws {
        #expect(try ObjectKey(key).isProjectVersion == isVersion)
    }
}
