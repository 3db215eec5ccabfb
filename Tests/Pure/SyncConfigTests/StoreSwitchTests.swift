import SystemPackage
import Testing

@testable import SyncConfig

/// `move-store` puts another store into a configuration that somebody has written.
@Suite struct StoreSwitchTests {
    private static let bucket = StoreSettings.s3(S3StoreSettings(bucket: "photos", prefix: "a/b"))

    private func edited(_ text: String, to store: StoreSettings = Self.bucket) throws -> String? {
        try StoreSwitch(to: store, location: ConfigText.location).edited(Array(text.utf8), reason: "until today")
    }

    static let texts = [
        "user: ana\nstore:\n  type: directory\n  path: /srv/store\n\n# Folders.\nwatch:\n  - {kind: gallery, path: /p}\n",
        "store: {type: directory, path: /srv/store}\nuser: ana\nwatch: []",
        "user: ana\nwatch: []\n",
        "user: ana\nwatch: []\nstore:\n    # deep\n    path: /srv/store\n    restore_seconds: 7\n",
        "store: {\n  type: directory,\n  path: /srv/store }\nuser: ana\n",
        "user: ana\nstore:\n\n",
        "---\nuser: ana\nstore:\n  type: directory\n...\n",
        "\u{FEFF}user: ana\nstore:\n  path: /srv/store\nwatch: []\n",
        "user: ana\r\nstore:\r\n  path: /srv/store\r\nwatch: []\r\n",
    ]

    @Test(arguments: texts)
    func `the store is the new one, and all else is as it was`(text: String) throws {
        let before = try ConfigText(text).settings()
        guard let result = try edited(text) else {
            // Where lines cannot be told apart, a person has to.
            #expect(text.hasPrefix("---"))
            return
        }
        var wanted = before
        wanted.store = Self.bucket
        #expect(try ConfigText(result).settings() == wanted)
        let lines = result.split(whereSeparator: \.isNewline)
        for line in text.split(whereSeparator: \.isNewline) {
            #expect(lines.contains(line) || lines.contains("#\(line)"), "\(line)")
        }
    }

    @Test func `comments of other sections stay where they are, and the old store is a comment`() throws {
        #expect(
            try edited(Self.texts[0])
                == """
                user: ana
                store:
                  type: s3
                  bucket: photos
                  prefix: a/b

                # The store before that (until today):
                #store:
                #  type: directory
                #  path: /srv/store

                # Folders.
                watch:
                  - {kind: gallery, path: /p}

                """)
    }

    @Test func `what goes with every store goes with the new one`() throws {
        let text = "user: ana\nstore:\n  catalog: off   # paths are nobody's business\n  path: /srv/store\n"
        let result = try #require(try edited(text))
        #expect(result.contains("\n  catalog: off   # paths are nobody's business\n"))
        #expect(try ConfigText(result).settings().catalog == .off)
    }

    @Test(arguments: [
        "user: ana\nstore: {type: directory, path: /srv/store, catalog: off}\n",
        "user: ana\nstore: {\n  catalog: off,\n  path: /srv/store }\n",
        "user: ana\nstore: {type: directory, path: /srv/store, catalog: 'off'}\n",
    ])
    func `it does so from a section in braces, too`(text: String) throws {
        let result = try #require(try edited(text))
        #expect(try ConfigText(result).settings().catalog == .off)
    }

    @Test func `there and back is the same configuration`() throws {
        let old = StoreSettings.directory(DirectoryStoreSettings(path: "/srv/store"))
        let there = try #require(try edited(Self.texts[0]))
        let back = try #require(try edited(there, to: old))
        #expect(try ConfigText(back).settings() == ConfigText(Self.texts[0]).settings())
    }

    @Test func `a store in a watched folder is refused before anything is copied`() throws {
        let text = "user: ana\nwatch:\n  - {kind: gallery, path: /p}\n"
        #expect(throws: ConfigError.self) {
            try edited(text, to: .directory(DirectoryStoreSettings(path: "/p/store")))
        }
    }
}
