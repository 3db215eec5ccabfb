import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine
@testable import SyncLedger

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

    /// The units of systemd start nothing again that has ended with 77 or 78.
    @Test(
        arguments: [
            (LedgerError.Code.newerSchema, SyncCLI.ExitStatus.configuration), (.notAllowed, .refused),
            (.readOnly, .refused), (.noSpace, .failed), (.busy, .failed), (.moved, .failed), (.damaged, .failed),
        ])
    func `each failure of the ledger has its exit code`(code: LedgerError.Code, status: SyncCLI.ExitStatus) {
        #expect(SyncCLI.ExitStatus(LedgerError(code: code, operation: "open", path: "", message: "m")) == status)
    }

    @Test func `other failures have theirs`() {
        let setting = StoreError(.invalidRequest, operation: "configure", message: "m")
        #expect(SyncCLI.ExitStatus(setting) == .configuration)
        #expect(SyncCLI.ExitStatus(AgentLock.Held(holder: nil)) == .locked)
        #expect(SyncCLI.ExitStatus(ScanError(.missing, path: "/x", message: "m")) == .noSuchPath)
        #expect(SyncCLI.ExitStatus(CommandFailure(.configuration, "m")) == .configuration)
    }
}
