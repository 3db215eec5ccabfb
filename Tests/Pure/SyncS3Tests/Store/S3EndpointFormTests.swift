import SyncCore
import SyncS3
import Testing

/// Which of Amazon's endpoints are asked, for objects and for the keys of a role.
@Suite struct S3EndpointFormTests {
    private static let role = [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/photos", "HOME": "/home/ana",
    ]
    private static let given = ScriptedTransport.Answer.reply(
        200, [:],
        """
        <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>A</AccessKeyId>\
        <SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
        <Expiration>2012-12-21T01:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
        </AssumeRoleWithWebIdentityResponse>
        """)

    private func hosts(
        _ variables: [String: String], file: String = "", endpoint: String? = nil, region: String = "eu-west-1",
        change: (inout S3Settings) -> Void = { _ in }
    ) async throws -> [String] {
        let made = try ScriptedStore(
            [Self.given, ScriptedStore.emptyList], endpoint: endpoint,
            variables: Self.role.merging(variables) { $1 },
            change: {
                $0.region = region
                change(&$0)
            },
            readFile: { path throws(StoreError) in
                path == "/token" ? "a.b.c" : path == "/home/ana/.aws/config" ? file : nil
            })
        try await made.store.check()
        return made.transport.requests.map(\.url.host)
    }

    @Test(
        arguments: [
            ([:], "", ["sts.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"]),
            (
                ["AWS_USE_DUALSTACK_ENDPOINT": "true"], "",
                ["sts.eu-west-1.api.aws", "s3.dualstack.eu-west-1.amazonaws.com"]
            ),
            (
                ["AWS_USE_FIPS_ENDPOINT": "TRUE"], "",
                ["sts-fips.eu-west-1.amazonaws.com", "s3-fips.eu-west-1.amazonaws.com"]
            ),
            (
                [:], "[default]\nuse_dualstack_endpoint = true\nuse_fips_endpoint = true",
                ["sts-fips.eu-west-1.api.aws", "s3-fips.dualstack.eu-west-1.amazonaws.com"]
            ),
            (
                ["AWS_USE_FIPS_ENDPOINT": "false"], "[default]\nuse_fips_endpoint = true",
                ["sts.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"]
            ),
        ] as [([String: String], String, [String])])
    func `Environment and profile choose Amazon's endpoints, the environment first`(
        variables: [String: String], file: String, hosts: [String]
    ) async throws {
        #expect(try await self.hosts(variables, file: file) == hosts)
    }

    @Test func `The configuration comes before both, and counts for the services that give credentials`() async throws {
        let variables = ["AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "false"]
        let hosts = try await hosts(variables) {
            $0.fips = false
            $0.dualStack = true
        }
        #expect(hosts == ["sts.eu-west-1.api.aws", "s3.dualstack.eu-west-1.amazonaws.com"])
    }

    /// As botocore's rules have them.
    @Test(
        arguments: [
            ("us-gov-west-1", ["AWS_USE_FIPS_ENDPOINT"], "sts.us-gov-west-1.amazonaws.com"),
            (
                "us-gov-west-1", ["AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"],
                "sts-fips.us-gov-west-1.api.aws"
            ),
            ("cn-north-1", ["AWS_USE_DUALSTACK_ENDPOINT"], "sts.cn-north-1.api.amazonwebservices.com.cn"),
        ])
    func `Other partitions have hosts of their own`(region: String, names: [String], host: String) async throws {
        let variables = Dictionary(uniqueKeysWithValues: names.map { ($0, "true") })
        #expect(try await hosts(variables, region: region).first == host)
    }

    @Test func `They do not count for an endpoint of another server`() async throws {
        let all = ["AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true", "AWS_REGION": "eu-west-1"]
        #expect(try await hosts(all, endpoint: "http://nas:9000").last == "nas")
    }
}
