import SyncConfig
import SyncCore
import Testing

/// Values that only a bucket has.
@Suite struct S3SettingsTests {
    /// The one problem of a configuration with these lines of the section `store`.
    private func problem(_ lines: String) -> String? {
        ConfigText("user: ana\nstore:\n  type: s3\n  bucket: photos\n  \(lines)").problems.first
    }

    @Test(
        arguments: [
            ("DEEP_ARCHIVE", "with tiers.archive_after_days: 0 at the next pass"),
            ("GLACIER", "a new photo has to be readable until it is verified"),
            ("standard_ia", "did you mean \"STANDARD_IA\"?"),
            ("COLD", "accepted: STANDARD, INTELLIGENT_TIERING, STANDARD_IA, ONEZONE_IA or GLACIER_IR"),
        ])
    func `an archive class is none for new photos, and others are named`(value: String, words: String) {
        let problem = problem("storage_class: \(value)") ?? ""
        #expect(
            problem.contains("line 5: store.storage_class: found \(value)") && problem.contains(words), "\(problem)")
    }

    @Test(
        arguments: [
            ("tags: ana", "accepted: up to 10 tags"),
            ("tags: {\((0..<11).map { "t\($0): x" }.joined(separator: ", "))}", "these are 11"),
            ("tags: {\"aws:x\": y}", "names that begin with aws: are Amazon's own"),
            ("tags: {a: \"b!\"}", "the tag \"a\" may have letters, digits, spaces and"),
            ("tags: {\(String(repeating: "a", count: 129)): b}", "is too long"),
            ("tags: {a: \(String(repeating: "b", count: 257))}", "is too long"),
            ("tags: {a: \"\(String(repeating: "𝟜", count: 129))\"}", "is too long"),
            ("tags: {\"\": b}", "has no name"), ("tags: {a: [b]}", "the tag \"a\" is none: a tag's value is a text"),
            ("tags: {k: null}", "the tag \"k\" has no value; write \"\" for an empty one"),
            ("tags: {a: b, k: }", "the tag \"k\" has no value"), ("tags: {k: ~}", "the tag \"k\" has no value"),
            ("request_payer: me", "accepted: owner or requester"),
            ("part_size: 5242879", "accepted: a size from 5MiB to 5GiB, such as 16MiB"),
            ("part_size: 6GiB", "accepted: a size from 5MiB to 5GiB"), ("part_size: 16MB", "such as 16MiB"),
            ("endpoint: http://nas:9000\n  dualstack: true", "store.dualstack: chooses an endpoint of Amazon's"),
            ("endpoint: http://nas:9000\n  fips: true", "store.fips: chooses an endpoint of Amazon's"),
            ("attempts: 0", "accepted: a whole number from 1 to 10"),
        ])
    func `values keep the limits of S3`(lines: String, words: String) {
        #expect(problem(lines)?.contains(words) == true, "\(problem(lines) ?? "")")
    }

    @Test(arguments: ["", "\ntiers: {mode: bucket}", "\ntiers: {mode: agent}", "\ntiers: {mode: off}"])
    func `rules for a bucket cannot be set through an access point`(tiers: String) {
        let point = "arn:aws:s3:eu-west-1:123456789012:accesspoint/photos"
        let problems = ConfigText("user: ana\nstore: {type: s3, bucket: \"\(point)\"}\(tiers)").problems
        let isRefused = !tiers.contains("agent") && !tiers.contains("off")
        #expect(problems.count == (isRefused ? 1 : 0))
        #expect(!isRefused || problems.first?.contains("set tiers.mode: agent") == true, "\(problems)")
    }

    @Test(
        arguments: [
            ("\"- *.CR2\"", "accepted: a list of rules"), ("[\"*.CR2\"]", "a rule begins with \"- \" (left out) or"),
            ("[[a]]", "one of its parts is no text"), ("[\"- [\"]", "is not closed"),
        ])
    func `a filter that is none is told`(yaml: String, words: String) {
        let problem = ConfigText("user: ana\nwatch: [{kind: gallery, path: /p, filter: \(yaml)}]").problems.first ?? ""
        #expect(problem.contains("watch[0].filter") && problem.contains(words), "\(problem)")
    }

    @Test(
        arguments: [
            ("512k", "512k"), ("1.5M:off", "1.5M:off"), ("\"off:512k\"", "off:512k"), ("off", "off"),
            ("\"Mon-09:00,1M 18:00,off\"", "Mon-09:00,1M 18:00,off"),
        ])
    func `a bandwidth is a rate, a pair or a timetable`(yaml: String, text: String) throws {
        let settings = try ConfigText("user: ana\nupload: {bandwidth_limit: \(yaml)}").settings()
        #expect(settings.upload.bandwidthLimit?.description == text)
    }

    @Test(
        arguments: [
            ("\"08:00,512\"", "a rate has a unit"), ("8k", "at least 16k, or off"), ("\"8:00,1M\"", "a time is 08:00"),
            ("\"08:00,1M x\"", "an entry is a time and a rate"),
        ])
    func `a bandwidth that is none is told`(yaml: String, words: String) {
        let problem = ConfigText("user: ana\nupload: {bandwidth_limit: \(yaml)}").problems.first ?? ""
        #expect(problem.contains("upload.bandwidth_limit") && problem.contains(words), "\(problem)")
    }

    @Test func `ten tags of the longest kind are taken`() {
        let pairs = (0..<10).map { number in
            "\"\(number)\(String(repeating: "ä", count: 127))\": \"\(String(repeating: "=", count: 256))\""
        }
        #expect(problem("tags: {\(pairs.joined(separator: ", "))}") == nil)
    }
}
