import ArgumentParser
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct RebuildPricesTests {
    @Test func `a price file that cannot be used keeps nobody from a rebuild, which reads nothing then that costs`()
        throws
    {
        let tree = try TemporaryTree()
        try tree.makeFolder("home/Gallery")
        try tree.write("region: home\n", to: "prices.yaml")
        try tree.write(
            """
            user: ana
            store: {type: s3, bucket: photos-of-ana, region: eu-central-1}
            watch:
              - {kind: gallery, path: \(tree.path("home/Gallery"))}
            cost: {prices: \(tree.path("prices.yaml"))}

            """, to: "config.yaml")
        let installation = try Installation(
            GlobalOptions.parse(["--config", tree.path("config.yaml").string]),
            environment: ["HOME": tree.path("home").string, "XDG_STATE_HOME": tree.path("state").string])
        #expect(throws: (any Error).self) { try installation.verificationRule() }
        let rule = try installation.verificationRuleOfRebuild()
        #expect(rule.maximumUSDPerMonth == 0)
        #expect(rule.cost.usd(bytes: 1, in: .standard) > 0 && rule.cost.usd(bytes: 1, in: .glacier) > 0)
    }
}
