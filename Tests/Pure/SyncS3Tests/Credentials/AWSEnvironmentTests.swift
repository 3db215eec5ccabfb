import SyncCore
import SyncS3
import Testing

@Suite struct AWSEnvironmentTests {
    private static let config = """
        [default]
        region = eu-west-1
        [profile work]
        region = eu-central-1
        endpoint_url = https://s3.work.example
        services = office
        [profile other]
        endpoint_url = https://any.other.example
        services = empty
        [profile plain]
        ignore_configured_endpoint_urls = TRUE
        endpoint_url = https://ignored.example
        [profile broken]
        services = gone
        [profile bundled]
        ca_bundle = ~/office.pem
        [services office]
        s3 =
          endpoint_url = https://s3.office.example
        ec2 =
          endpoint_url = https://ec2.office.example
        [services empty]
        ec2 =
          endpoint_url = https://ec2.example
        """

    private func environment(_ variables: [String: String], profile: String? = nil) -> AWSEnvironment {
        let home = ["HOME": "/home/ana"]
        return AWSEnvironment(
            variables: variables.merging(home) { given, _ in given }, profile: profile
        ) { path throws(StoreError) in path == "/home/ana/.aws/config" ? Self.config : nil }
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
            ([:], nil, nil), (["SSL_CERT_FILE": "/etc/one.pem"], nil, "/etc/one.pem"),
            (["SSL_CERT_FILE": "/etc/one.pem"], "bundled", "/home/ana/office.pem"),
            (["AWS_CA_BUNDLE": "/etc/two.pem", "SSL_CERT_FILE": "/etc/one.pem"], "bundled", "/etc/two.pem"),
        ] as [([String: String], String?, String?)])
    func `Authorities come from AWS_CA_BUNDLE, the profile and SSL_CERT_FILE, in this order`(
        variables: [String: String], profile: String?, expected: String?
    ) throws {
        #expect(try environment(variables, profile: profile).caBundle() == expected)
    }

    @Test(
        arguments: [
            (["HTTP_PROXY": "http://p"], "http://nas:9000", true), (["HTTP_PROXY": "http://p"], "https://nas", false),
            (["HTTP_PROXY": "http://p", "http_proxy": "http://q"], "http://nas", false), ([:], "http://nas", false),
            (["HTTP_PROXY": "http://p", "ALL_PROXY": "http://q"], "http://nas", false),
        ])
    func `A proxy in capitals, which is not used, is told`(
        variables: [String: String], endpoint: String, isTold: Bool
    ) {
        #expect((environment(variables).unusedProxy(for: endpoint) != nil) == isTold)
    }

    @Test(
        arguments: [
            ("http://given", ["AWS_ENDPOINT_URL_S3": "http://s3"], nil, "http://given"),
            (nil, ["AWS_ENDPOINT_URL_S3": "http://s3", "AWS_ENDPOINT_URL": "http://any"], nil, "http://s3"),
            (nil, ["AWS_ENDPOINT_URL": "http://any"], "work", "http://any"),
            (nil, [:], "work", "https://s3.office.example"),
            (nil, [:], "other", "https://any.other.example"),
            (nil, ["AWS_ENDPOINT_URL": "http://any"], "plain", nil),
            (nil, ["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"], "plain", "https://ignored.example"),
            (nil, ["AWS_ENDPOINT_URL": "http://any", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"], "work", nil),
            ("http://given", ["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"], "work", "http://given"),
            (nil, [:], nil, nil),
        ] as [(String?, [String: String], String?, String?)])
    func `The endpoint comes from the configuration, the environment, the profile, in this order`(
        configured: String?, variables: [String: String], profile: String?, expected: String?
    ) throws {
        #expect(try environment(variables, profile: profile).endpoint(configured: configured) == expected)
    }

    @Test func `A services section that is not there is named`() {
        let error = #expect(throws: StoreError.self) {
            try environment([:], profile: "broken").endpoint(configured: nil)
        }
        #expect(error?.message.contains("[services gone]") == true)
    }
}
