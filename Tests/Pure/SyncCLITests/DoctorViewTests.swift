import SyncCore
import SyncEngine
import Testing

@testable import SyncCLI
@testable import SyncConfig

@Suite struct DoctorViewTests {
    private let view = DoctorView(terminal: .standardOutput(["TERM": "dumb"]))

    private static func failure(_ code: StoreError.Code) -> Finding {
        .wrong("store", StoreError(code, operation: "check", message: "it failed; do something"))
    }

    @Test func `Each finding has a state, a name, and below them what to do`() {
        let finding = Finding.limited(
            "conditional-puts", "the server does not look at If-None-Match, and overwrites",
            instead: "a HEAD goes before each put")
        let lines = view.lines(finding)
        #expect(lines[0] == "limited  conditional-puts  the server does not look at If-None-Match, and")
        #expect(lines[1] == "                           overwrites")
        #expect(lines[2] == "                           -> a HEAD goes before each put")
        #expect(view.lines(.ok("clock", "right"))[0] == "ok       clock             right")
        #expect(view.lines(Self.failure(.unreachable))[0].hasPrefix("WRONG    store"))
    }

    @Test func `Nothing that a server says reaches the terminal as a command`() {
        let lines = view.lines(.ok("region", "eu\u{1B}[2J"))
        #expect(lines == ["ok       region            eu\\u{1b}[2J"])
    }

    @Test func `Several problems stand on lines of their own`() {
        #expect(view.lines(.ok("ledger", "one\ntwo")).count == 2)
    }

    @Test(arguments: [
        ([], SyncCLI.ExitStatus.done), ([StoreError.Code.unreachable], .storeUnreachable), ([.accessDenied], .refused),
        ([.unreachable, .credentialsRejected], .refused), ([.badDigest], .failed),
        ([.badDigest, .timedOut], .storeUnreachable),
    ])
    func `The gravest of what is wrong decides the exit code`(_ codes: [StoreError.Code], _ status: SyncCLI.ExitStatus)
    {
        let checks = Checks { _ in }
        checks.add(.limited("agent", "none is running", instead: "start it"))
        for code in codes { checks.add(Self.failure(code)) }
        #expect(checks.status == status)
    }

    @Test func `A configuration that is wrong comes before all else`() {
        let checks = Checks { _ in }
        checks.add(Self.failure(.accessDenied))
        checks.add(
            .wrong(
                "configuration", "bad", remedy: "correct it",
                cause: ConfigError(file: nil, problems: [ConfigProblem(message: "bad")])))
        #expect(checks.status == .configuration)
    }

    @Test func `What is wrong has a remedy, also when the message names none`() {
        let told = Finding.wrong(
            "store",
            StoreError(.accessDenied, operation: "put", message: "refused; grant it", detail: "403 AccessDenied"))
        #expect(told.detail == "put: refused (403 AccessDenied)")
        #expect(told.remedy == "grant it")
        let silent = Finding.wrong("store", StoreError(.serverFailed, operation: "put", message: "it failed"))
        #expect(silent.remedy?.hasPrefix("try again") == true)
    }

    @Test(arguments: [
        ("it failed", "it failed", nil), ("it failed; do this", "it failed", "do this"),
        ("wrong key; correct it; it is from environment", "wrong key", "correct it; it is from environment"),
        ("none: not here; not there. To go on, set one", "none: not here; not there", "set one"),
    ])
    func `A message is told apart from its next step`(_ message: String, _ reason: String, _ remedy: String?) {
        let advice = Advice(message)
        #expect(advice.reason == reason && advice.remedy == remedy)
    }

    @Test func `JSON has every field, with null for no remedy`() throws {
        let text = try JSONOutput.text(DoctorReport([.ok("clock", "right")]))
        #expect(text.contains("\"remedy\" : null"))
        #expect(text.contains("\"state\" : \"ok\""))
    }
}
