import SyncConfig
import Testing

@Suite struct FolderRulesTests {
    private func problems(_ paths: [String], store: String = "/srv/store") -> [String] {
        let watch = paths.map { "  - {kind: gallery, path: \($0)}\n" }.joined()
        return ConfigText("user: ana\nstore: {path: \(store)}\nwatch:\n\(watch)").problems
    }

    @Test func `folders side by side may be watched, also when their names begin alike`() {
        #expect(problems(["/srv/photos", "/srv/photos2", "/srv/store2", "~/Pictures"]).isEmpty)
    }

    @Test(
        arguments: [
            ("/p/a/../b", "/p/b", "is the same folder as watch[0]"), ("/p", "/p/b/c", "lies inside watch[0]"),
            ("/p/b/c", "/p", "holds watch[0]"),
        ])
    func `a folder in another, or given twice, is refused`(first: String, second: String, relation: String) {
        #expect(
            problems([first, second])
                == ["line 5: watch[1].path: \(relation); a photo may be in one watched folder only"])
    }

    @Test(
        arguments: [
            ("/srv", "holds the store, /srv/store"), ("/srv/store/users", "lies inside the store, /srv/store"),
            ("/srv/store", "is the same folder as the store, /srv/store"),
            ("~/.local", "holds the state folder, /home/ana/.local/state/sync-agent"),
            ("~/.local/state/sync-agent/x", "lies inside the state folder, /home/ana/.local/state/sync-agent"),
        ])
    func `a folder that has to do with the agent's own is refused`(path: String, relation: String) {
        #expect(problems([path]) == ["line 4: watch[0].path: \(relation); the agent would upload its own files"])
    }

    @Test func `there is one folder of projects: two would be stored under the same keys`() {
        let text = ConfigText(
            """
            user: ana
            store: {path: /srv/store}
            watch:
              - {kind: projects, path: /p}
              - {kind: gallery, path: /g}
              - {kind: projects, path: /q}
            """)
        #expect(
            text.problems == [
                "line 6: watch[2].path: is a second folder of kind projects, beside watch[0]; both would be stored under "
                    + "the same keys, so there may be one only"
            ])
    }

    @Test func `a path that was refused is not compared`() {
        #expect(problems(["/srv/photos"], store: "~bob/x").count == 1)
    }
}
