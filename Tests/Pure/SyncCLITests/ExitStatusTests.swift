import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct ExitStatusTests {
    @Test(
        arguments: [
            (StoreError.Code.unreachable, SyncCLI.ExitStatus.storeUnreachable), (.timedOut, .storeUnreachable),
            (.storeMissing, .storeUnreachable), (.noSpace, .storeUnreachable), (.clockSkew, .storeUnreachable),
            (.wrongRegion, .storeUnreachable),
            (.accessDenied, .refused), (.credentialsMissing, .refused), (.credentialsRejected, .refused),
            (.badDigest, .failed), (.unsupported, .failed), (.settingRefused, .configuration),
        ])
    func `each failure of a store has its exit code`(code: StoreError.Code, status: SyncCLI.ExitStatus) {
        #expect(SyncCLI.ExitStatus(StoreError(code, operation: "check", message: "m")) == status)
    }

    @Test func `other failures have theirs`() {
        let setting = StoreError(.invalidRequest, operation: "configure", message: "m")
        #expect(SyncCLI.ExitStatus(setting) == .configuration)
        #expect(SyncCLI.ExitStatus(AgentLock.Held(holder: nil)) == .locked)
        #expect(SyncCLI.ExitStatus(ScanError(.missing, path: "/x", message: "m")) == .noSuchPath)
        #expect(SyncCLI.ExitStatus(CommandFailure(.configuration, "m")) == .configuration)
    }
}
