import SyncConfig
import Testing

@Suite struct ConfigProblemTests {
    @Test(
        arguments: [
            (
                "user: ana\nupload:\n  batch_size: 40",
                "line 3: upload.batch_size: found 40; accepted: a whole number from 1 to 16"
            ),
            (
                "user: ana\nupload: {batch_size: \"3\"}",
                "line 2: upload.batch_size: found \"3\"; accepted: a whole number from 1 to 16 "
                    + "(a number stands without quotes)"
            ),
            (
                "user: ana\nupload: {batch_size: 3.5}",
                "line 2: upload.batch_size: found 3.5; accepted: a whole number from 1 to 16"
            ),
            (
                "user: ana\nphotos: {quality: 010}",
                "line 2: photos.quality: found 010; accepted: a whole number from 1 to 100 (a number has no leading zeros)"
            ),
            (
                "user: ana\nphotos: {max_dimension: 2_048}",
                "line 2: photos.max_dimension: found 2_048; accepted: a whole number from 1 to 65500 "
                    + "(a number has no \"_\"; leave it out)"
            ),
            (
                "user: ana\nupload: {settle_seconds: 1_0.5}",
                "line 2: upload.settle_seconds: found 1_0.5; accepted: a number from 0 to 3600, in seconds "
                    + "(a number has no \"_\"; leave it out)"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, part_size: 1_6MiB}",
                "line 2: store.part_size: found 1_6MiB; accepted: a size from 5MiB to 5GiB, such as 16MiB "
                    + "(a number has no \"_\"; leave it out)"
            ),
            (
                "user: ana\nupload: {settle_seconds: !!str 2}",
                "line 2: upload.settle_seconds: found \"2\"; accepted: a number from 0 to 3600, in seconds "
                    + "(a number stands without quotes)"
            ),
            (
                "user: ana\nphotos: {quality: [80]}",
                "line 2: photos.quality: found a list; accepted: a whole number from 1 to 100"
            ),
            (
                "user: ana\nphotos:\n  quality:\n",
                "line 3: photos.quality: has no value; accepted: a whole number from 1 to 100, or no such line for 80"
            ),
            (
                "user: ana\nupload: {settle_seconds: .inf}",
                "line 2: upload.settle_seconds: found .inf; accepted: a number from 0 to 3600, in seconds"
            ),
            (
                "user: ana\nphotos: {strip_location: 1}",
                "line 2: photos.strip_location: found 1; accepted: true or false"
            ),
            (
                "user: ana\nrestore: {tier: expedite}",
                "line 2: restore.tier: found expedite; accepted: bulk, standard or expedited (did you mean \"expedited\"?)"
            ),
            (
                "user: ana\nretention: {time_zone: Europe/Berlim}",
                "line 2: retention.time_zone: found Europe/Berlim; accepted: a time zone such as Europe/Berlin or UTC "
                    + "(did you mean \"Europe/Berlin\"?)"
            ),
            (
                "user: ana\nretention: {at: 24:00}",
                "line 2: retention.at: found 24:00; accepted: a time of day from \"00:00\" to \"23:59\""
            ),
            (
                "user: a/b",
                "line 1: user: found a/b; accepted: a name of 1 to 128 bytes without \"/\" (a name may not contain \"/\")"
            ),
            (
                "user: \"a\\e[31m\"",
                "line 1: user: found \"a\\u{1b}[31m\"; accepted: a name of 1 to 128 bytes without \"/\" "
                    + "(control characters and backslashes are not allowed)"
            ),
            ("photos: {quality: 80}", "user: is missing; it takes a name of 1 to 128 bytes without \"/\""),
            (
                "user: ana\nphotos: 80",
                "line 2: photos: found 80; accepted: a section with the keys max_dimension, quality, strip_location, keep_originals"
            ),
            (
                "user: ana\nwatch: ~/Pictures",
                "line 2: watch: found ~/Pictures; accepted: a list, each entry with the keys kind, path, profile, filter"
            ),
            (
                "user: ana\nwatch:\n  - path: /p",
                "line 3: watch[0].kind: is missing; it takes gallery, vacations or projects"
            ),
            (
                "user: ana\nwatch:\n  - {kind: projects, path: /p, profile: x}",
                "line 3: watch[0].profile: only a folder of kind gallery has a profile, this one is of kind projects"
            ),
            (
                "user: ana\nwatch:\n  - {kind: projects, path: $HOME/x}",
                "line 3: watch[0].path: found $HOME/x; accepted: an absolute path, one below \"~/\", or one relative to "
                    + "this file (variables are not expanded; write the path, or \"~/\" for your home folder)"
            ),
            (
                "user: ana\nwatch:\n  - {kind: projects, path: ~bob/x}",
                "line 3: watch[0].path: found ~bob/x; accepted: an absolute path, one below \"~/\", or one relative to "
                    + "this file (\"~name\" is not expanded; write the path in full)"
            ),
            (
                "user: ana\nstore:\n  type: directory\n  bucket: photos",
                "line 4: store.bucket: belongs to a store of type s3; this one is of type directory"
            ),
            (
                "user: ana\nstore:\n  bucket: photos",
                "line 3: store.bucket: belongs to a store of type s3; this one is of type directory (the default)"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, path: /x}",
                "line 2: store.path: belongs to a store of type directory; this one is of type s3"
            ),
            (
                "user: ana\nstore: {type: s3}",
                "line 2: store.bucket: is missing; a store of type s3 needs the bucket's name"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, endpoint: \"https://key:pw@nas\"}",
                "line 2: store.endpoint: found an address with a password; accepted: an http or https address without "
                    + "password, \"?\" or \"#\", or null"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, prefix: a//b}",
                "line 2: store.prefix: found a//b; accepted: a path inside the bucket of at most 512 bytes, without \"/\" at "
                    + "its ends, or \"\" (an empty name between two \"/\" is not allowed)"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, encryption: aes}",
                "line 2: store.encryption: found aes; accepted: none, sse-s3 or sse-kms"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, checksums: yes}",
                "line 2: store.checksums: found yes; accepted: auto, on or off"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, encryption: sse-s3, kms_key: alias/x}",
                "line 2: store.kms_key: goes with encryption: sse-kms; this one is sse-s3"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, kms_key: alias/x}",
                "line 2: store.kms_key: goes with encryption: sse-kms; this one is none"
            ),
            (
                "user: ana\nstore: {type: s3, bucket: photos, encryption: sse-kms, kms_key: a b}",
                "line 2: store.kms_key: found a b; accepted: a key's id, alias or ARN, or null"
            ),
            (
                "user: ana\nnotify: {webhook: ftp://secret}",
                "line 2: notify.webhook: found a value that is not shown here; accepted: an http or https address, or null"
            ),
            (
                "user: ana\nretention: {time_zone: \"+02:00\"}",
                "line 2: retention.time_zone: found \"+02:00\"; accepted: a time zone such as Europe/Berlin or UTC "
                    + "(an offset is no zone: it does not tell when summer begins)"
            ),
            (
                "user: ana\nretention: {time_zone: \"ana+2:12\"}",
                "line 2: retention.time_zone: found a value that is not shown here; accepted: a time zone such as "
                    + "Europe/Berlin or UTC (an offset is no zone: it does not tell when summer begins)"
            ),
            (
                "user: ana\nnotify: {command: notify-send}",
                "line 2: notify.command: found notify-send; accepted: a list of texts, the program first, such as "
                    + "[notify-send, done], or []"
            ),
            (
                "user: ana\nmetrics: {textfile: /srv/agent.txt}",
                "line 2: metrics.textfile: /srv/agent.txt does not end in .prom, and no collector reads it"
            ),
            (
                "user: ana\nwatch: [{kind: gallery, path: /p}]\nmetrics: {textfile: /p/a.prom}",
                "line 3: metrics.textfile: lies in the watched folder /p; name a place that is not watched"
            ),
        ])
    func `a problem names the line, the key, what was found and what is accepted`(text: String, expected: String) {
        #expect(ConfigText(text).problems == [expected])
    }

    @Test(
        arguments: [
            ("upload: {bach_size: 3}", "upload.bach_size: there is no such key; did you mean \"batch_size\"?"),
            ("photos: {maxDimension: 3}", "photos.maxDimension: there is no such key; did you mean \"max_dimension\"?"),
            ("photo: {quality: 3}", "photo: there is no such key; did you mean \"photos\"?"),
            ("quality: 3", "quality: there is no such key here; \"quality\" belongs to \"photos\""),
            (
                "photos: {colour: 3}",
                "photos.colour: there is no such key; accepted: max_dimension, quality, strip_location, keep_originals"
            ),
            (
                "photos: {keep_original: true}",
                "photos.keep_original: there is no such key; did you mean \"keep_originals\"?"
            ),
            (
                "store: {type: s3, bucket: abc, tls: x}",
                "store.tls: there is no such key; accepted: type, path, restore_seconds, bucket, region, endpoint, "
                    + "addressing, prefix, profile, encryption, kms_key, checksums, conditional_writes, storage_class, tags, request_payer, part_size, attempts, dualstack, fips, catalog"
            ),
            (
                "upload.batch_size: 3",
                "upload.batch_size: there is no such key; write \"batch_size\" indented below \"upload:\""
            ),
            ("watch[]: {kind: gallery}", "watch[]: there is no such key; did you mean \"watch\"?"),
            ("upload: {settle_secs: 3}", "upload.settle_secs: there is no such key; did you mean \"settle_seconds\"?"),
            (
                "store: {bucket: x}",
                "store.bucket: belongs to a store of type s3; this one is of type directory (the default)"
            ),
            (
                "watch: [{kind: gallery, path: /p, pth: 1}]",
                "watch[0].pth: there is no such key; did you mean \"path\"?"
            ),
            (
                "? user.name\n: 1",
                "user.name: there is no such key; accepted: user, store, machine, watch, photos, upload, tiers, retention, restore, cost, share, verify, projects, serve, notify, metrics"
            ),
        ])
    func `a name that does not exist is told with the one that was meant`(text: String, expected: String) {
        #expect(ConfigText("user: ana\n" + text).problems == ["line 2: " + expected])
    }

    @Test func `all problems of a file come together, by line`() {
        let problems = ConfigText(
            """
            user: ""
            upload:
              batch_size: 0
              settle_secs: 2
            photos: {quality: 101, max_dimension: 65501}
            watch:
              - {kind: galery, path: /p}
              - 3
            restore: {days: soon}
            """
        ).problems
        let places = problems.map { $0.split(separator: ":").prefix(2).joined(separator: ":") }
        #expect(
            places == [
                "line 1: user", "line 3: upload.batch_size", "line 4: upload.settle_secs",
                "line 5: photos.max_dimension",
                "line 5: photos.quality", "line 7: watch[0].kind", "line 8: watch[1]", "line 9: restore.days",
            ])
    }

    @Test func `the error names the file, and each problem has its line`() {
        let error = #expect(throws: ConfigError.self) { try ConfigText("user: [x]\nusers: 1").load() }
        #expect(
            error?.description == """
                /home/ana/.config/sync-agent/config.yaml: 2 problems
                  line 1: user: found a list; accepted: a name of 1 to 128 bytes without "/"
                  line 2: users: there is no such key; did you mean "user"?
                """)
    }

    @Test(
        arguments: [
            ("user: ana\nupload:\n\tbatch_size: 3", 3, "a tab indents this line; use spaces instead"),
            ("user: ana\nuser: bob", 1, "\"user\" stands more than once in this section; keep one"),
            ("user: ana\nphotos:\n  quality: 3\n  quality: 4", 3, "\"quality\" stands more than once"),
            ("user: ana\nwatch: [{kind: gallery\n", 3, "while parsing a flow"),
            ("user: ana\nstore: a: b", 2, "needs quotes"),
            ("user: \"ana\nx", 2, "found unexpected end of stream"),
            ("user: ana\n---\nuser: bob", 2, "another document"),
            ("user: *nobody", 1, "undefined alias"),
            ("user: !secret x", 1, "the type tag has no meaning here"),
            ("user: ana\nupload: {settle_seconds: !!float two}", 2, "tag:yaml.org,2002:float\" does not fit what is"),
            ("user: ana\nupload: {batch_size: !!int 3.5}", 2, "tag:yaml.org,2002:int\" does not fit what is behind it"),
            ("user: ana\nserve: {enabled: !!bool 1}", 2, "tag:yaml.org,2002:bool\" does not fit what is behind it"),
            ("user: !!null ana", 1, "tag:yaml.org,2002:null\" does not fit what is behind it; remove it"),
            ("user: !!binary YQ==", 1, "the type tag \"tag:yaml.org,2002:binary\" has no meaning here"),
            ("user: ana\nwatch: !!set {a}", 2, "the type tag \"tag:yaml.org,2002:set\" has no meaning here; remove it"),
            ("user: ana\nwatch: !mine []", 2, "the type tag has no meaning here; remove it"),
            ("user: ana\n!!int 3: 4", 2, "the type tag \"tag:yaml.org,2002:int\" has no meaning here; remove it"),
            ("user: ana\n[a]: 3", 2, "the name of a key has to be plain text"),
            ("user: a\u{7}", 1, "control characters are not allowed"),
        ])
    func `text that is no YAML is told with its line`(text: String, line: Int, expected: String) throws {
        let error = try #require(#expect(throws: ConfigError.self) { try ConfigText(text).load() })
        #expect(error.problems.count == 1)
        #expect(error.problems[0].message.contains(expected))
        #expect(error.problems[0].line == line)
    }

    @Test func `nesting without end and aliases that multiply are refused, not followed`() {
        let deep = ConfigText("user: " + String(repeating: "[", count: 100_000)).problems
        #expect(deep.count == 1)
        var laughs = "l0: &l0 [a, a, a, a, a, a, a, a, a, a]\n"
        for level in 1...9 {
            laughs +=
                "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ", "))]\n"
        }
        let wide = ConfigText(laughs).problems
        #expect(wide.count == 1)
        #expect(wide.first?.contains("more than 10000 values") == true)
    }

    @Test func `bytes that are no UTF-8, and too many of them, are refused`() {
        let latin1 = #expect(throws: ConfigError.self) {
            try ConfigFile.parse(Array("user: ana\n# M".utf8) + [0xFC, 0x6C], location: ConfigText.location)
        }
        #expect(
            latin1?.problems.map(\.description) == ["line 2: the text is not UTF-8; save the file in that encoding"])
        let large = #expect(throws: ConfigError.self) {
            try ConfigFile.parse(
                Array(repeating: UInt8(ascii: "#"), count: ConfigFile.maximumSize + 1), location: ConfigText.location)
        }
        #expect(large?.problems.first?.message.contains("larger than 1048576 bytes") == true)
    }
}
