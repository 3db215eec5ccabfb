import SyncCore
import SyncS3
import Testing

@Suite struct AWSEnvironmentTests {
    private static let files = [
        "/home/ana/.aws/credentials": """
        [default]
        aws_access_key_id = FILE
        aws_secret_access_key = file-secret
        [work]
        aws_access_key_id = WORK
        aws_secret_access_key = work-secret
        aws_session_token = work-token
        [half]
        aws_access_key_id = HALF
        """,
        "/home/ana/.aws/config": """
        [default]
        region = eu-west-1
        [profile work]
        region = eu-central-1
        endpoint_url = https://s3.work.example
        [profile inconfig]
        aws_access_key_id = INCONFIG
        aws_secret_access_key = config-secret
        """,
        "/elsewhere": "[default]\naws_access_key_id = ELSEWHERE\naws_secret_access_key = s\n",
    ]

    private func environment(_ variables: [String: String], profile: String? = nil) -> AWSEnvironment {
        let home = ["HOME": "/home/ana"]
        return AWSEnvironment(
            variables: variables.merging(home) { given, _ in given }, profile: profile
        ) { path throws(StoreError) in Self.files[path] }
    }

    private static let keys = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "env-secret"]

    @Test(
        arguments: [
            ([:], nil, "FILE"),
            (keys, nil, "ENV"),
            (keys, "work", "WORK"),
            (["AWS_PROFILE": "work"], nil, "WORK"),
            (["AWS_DEFAULT_PROFILE": "work"], nil, "WORK"),
            (["AWS_PROFILE": "inconfig"], nil, "INCONFIG"),
            (["AWS_PROFILE": ""], nil, "FILE"),
            (["AWS_SHARED_CREDENTIALS_FILE": "/elsewhere"], nil, "ELSEWHERE"),
        ] as [([String: String], String?, String)])
    func `The first place that has a key pair decides`(
        variables: [String: String], profile: String?, expected: String
    ) throws {
        #expect(try environment(variables, profile: profile).credentials(for: "put").accessKeyID == expected)
    }

    @Test func `A session token comes along`() throws {
        #expect(try environment([:], profile: "work").credentials(for: "put").sessionToken == "work-token")
        let variables = Self.keys.merging(["AWS_SESSION_TOKEN": "t"]) { given, _ in given }
        #expect(try environment(variables).credentials(for: "put").sessionToken == "t")
        #expect(try environment(Self.keys).credentials(for: "put").sessionToken == nil)
    }

    @Test(
        arguments: [
            (
                ["HOME": "/home/none"], nil,
                "put: no S3 credentials: looked at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and profile \"default\" of "
                    + "/home/none/.aws/credentials and /home/none/.aws/config; set the two variables, or add the profile"
            ),
            (
                keys, "gone",
                "put: no S3 credentials: looked at profile \"gone\" of /home/ana/.aws/credentials and "
                    + "/home/ana/.aws/config; set the two variables, or add the profile"
            ),
            (
                ["AWS_ACCESS_KEY_ID": "ENV"], nil,
                "put: AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not: set both or neither"
            ),
            (
                ["AWS_SECRET_ACCESS_KEY": "x"], nil,
                "put: AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not: set both or neither"
            ),
            (
                ["AWS_PROFILE": "half"], nil,
                "put: profile \"half\" of /home/ana/.aws/credentials has only one of aws_access_key_id and "
                    + "aws_secret_access_key"
            ),
        ] as [([String: String], String?, String)])
    func `Missing credentials say where they were looked for`(
        variables: [String: String], profile: String?, message: String
    ) {
        let error = #expect(throws: StoreError.self) {
            try environment(variables, profile: profile).credentials(for: "put")
        }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.description == message)
    }

    @Test(
        arguments: [
            ("us-west-2", ["AWS_REGION": "eu-north-1"], nil, "us-west-2"),
            (nil, ["AWS_REGION": "eu-north-1", "AWS_DEFAULT_REGION": "eu-south-1"], nil, "eu-north-1"),
            (nil, ["AWS_DEFAULT_REGION": "eu-south-1"], nil, "eu-south-1"),
            (nil, [:], nil, "eu-west-1"),
            (nil, [:], "work", "eu-central-1"),
            (nil, ["HOME": "/home/none"], nil, "us-east-1"),
        ] as [(String?, [String: String], String?, String)])
    func `The region comes from the configuration, the environment, the profile, in this order`(
        configured: String?, variables: [String: String], profile: String?, expected: String
    ) throws {
        #expect(try environment(variables, profile: profile).region(configured: configured) == expected)
    }

    @Test(
        arguments: [
            ("http://given", ["AWS_ENDPOINT_URL_S3": "http://s3"], nil, "http://given"),
            (nil, ["AWS_ENDPOINT_URL_S3": "http://s3", "AWS_ENDPOINT_URL": "http://any"], nil, "http://s3"),
            (nil, ["AWS_ENDPOINT_URL": "http://any"], "work", "http://any"),
            (nil, [:], "work", "https://s3.work.example"),
            (nil, ["AWS_ENDPOINT_URL": "http://any", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"], "work", nil),
            (nil, [:], nil, nil),
        ] as [(String?, [String: String], String?, String?)])
    func `The endpoint comes from the configuration, the environment, the profile, in this order`(
        configured: String?, variables: [String: String], profile: String?, expected: String?
    ) throws {
        #expect(try environment(variables, profile: profile).endpoint(configured: configured) == expected)
    }
}
