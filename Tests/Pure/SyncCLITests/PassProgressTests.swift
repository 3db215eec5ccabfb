import SyncEngine
import Testing

@testable import SyncCLI

@Suite struct PassProgressTests {
    private func summary(uploaded: Int, failed: Int = 0, mebibytes: Int64 = 0) -> PassSummary {
        var summary = PassSummary()
        summary.uploaded = uploaded
        summary.failed = failed
        summary.bytesRead = mebibytes << 20
        return summary
    }

    @Test func `it tells how much is done, how fast, and how long it will take`() {
        let text = PassProgress.text(summary(uploaded: 9, failed: 1, mebibytes: 50), total: 40, elapsed: .seconds(10))
        #expect(text == "[=====               ]  10 of 40 photos  5.0 MiB/s  about 30 s left")
    }

    @Test func `it promises nothing before it knows anything`() {
        #expect(
            PassProgress.text(summary(uploaded: 0), total: 3, elapsed: .zero) == "[                    ]  0 of 3 photos"
        )
    }

    @Test func `photos that come in meanwhile never make it more than whole`() {
        let text = PassProgress.text(summary(uploaded: 5), total: 3, elapsed: .zero)
        #expect(text == "[====================]  5 of 5 photos")
    }
}
