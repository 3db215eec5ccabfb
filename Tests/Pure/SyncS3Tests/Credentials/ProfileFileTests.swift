import SyncS3
import Testing

@Suite struct ProfileFileTests {
    @Test func `A credentials file names its sections after profiles`() {
        let file = ProfileFile(
            """
            \u{FEFF}[default]
            aws_access_key_id = AKID
            aws_secret_access_key=se/cr+et==
            # a comment
            ; another

            [ work ]  # behind a title
            AWS_ACCESS_KEY_ID = WORK ; behind a value
            aws_session_token = to#ken;x
            [profile odd]
            aws_access_key_id = ODD
            """, kind: .credentials)
        #expect(
            file.profiles == [
                "default": ["aws_access_key_id": "AKID", "aws_secret_access_key": "se/cr+et=="],
                "work": ["aws_access_key_id": "WORK", "aws_session_token": "to#ken;x"],
                "profile odd": ["aws_access_key_id": "ODD"],
            ])
    }

    @Test func `A config file has profiles with a prefix, and sections that are none`() {
        let file = ProfileFile(
            "[default]\r\nregion = eu-west-1\r\n[profile  \"my work\"]\r\nregion=eu-central-1\r\ns3 =\r\n"
                + "  endpoint_url = http://ignored\r\nendpoint_url = https://s3.example.org\r\n"
                + "[sso-session x]\r\nregion = us-east-2\r\n[services y]\r\nregion = us-east-2\r\n[plain]\r\nregion = z\r\n",
            kind: .config)
        #expect(
            file.profiles == [
                "default": ["region": "eu-west-1"],
                "my work": ["region": "eu-central-1", "s3": "", "endpoint_url": "https://s3.example.org"],
            ])
        #expect(file.sessions == ["x": ["region": "us-east-2"]])
    }

    @Test func `A services section has settings of each service`() {
        let file = ProfileFile(
            "[services office]\nregion = ignored\n  endpoint_url = http://behind-region\ns3 = \n"
                + "\tendpoint_url = http://s3 # why\n# a comment\n  Addressing_Style = path\nec2 =\n"
                + "  endpoint_url = http://ec2\n[services \"my other\"]\n[default]\ns3 =\n  endpoint_url = http://no\n",
            kind: .config)
        #expect(
            file.services == [
                "office": [
                    "region": ["endpoint_url": "http://behind-region"],
                    "s3": ["endpoint_url": "http://s3", "addressing_style": "path"],
                    "ec2": ["endpoint_url": "http://ec2"],
                ],
                "my other": [:],
            ])
        #expect(file.profiles == ["default": ["s3": ""]])
    }

    @Test(arguments: ["", "no section = x", "[", "[]", "[a", "=\n[x]\n=\nname\n"])
    func `Broken files have no settings`(text: String) {
        #expect(ProfileFile(text, kind: .credentials).profiles.values.allSatisfy { $0.filter { $0.key != "" }.isEmpty })
    }
}
