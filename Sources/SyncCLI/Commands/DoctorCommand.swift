import ArgumentParser
import SyncEngine

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine this machine and the store: what works, what is limited, what is wrong.",
        discussion: """
            Looks at configuration, state, folders, space, inotify limits, credentials and clock, then tries what the \
            store can do with small objects below users/USER/doctor-…, which it removes again. What it learns of the \
            server is remembered. It changes nothing else, and may run beside the agent.

              ok        it works
              limited   it works otherwise than it could; -> says what is done instead
              WRONG     it does not work; -> says what to do

            At Amazon, storage classes and restores are tried only with --archive: objects in them are billed for up to \
            180 days, and an expedited restore costs $0.01.

            Ends with 0 when nothing is wrong; else with 78 (configuration), 77 (credentials or permission), 69 (store \
            not reachable) or 1, the first of these that applies.

            EXAMPLES
              sync-agent doctor
              sync-agent doctor --json | jq '.checks[] | select(.state != "ok")'
            """
    )

    @Flag(help: "Print the findings as one JSON object.")
    var json = false

    @Flag(help: "Try storage classes and restores at Amazon too, for about $0.02.")
    var archive = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let output = Terminal.standardOutput(environment)
            let view = DoctorView(terminal: output)
            let checks = Checks { [json] finding in
                if !json { view.lines(finding).forEach(output.writeLine) }
            }
            do {
                try await Examination(
                    global: global, environment: environment, triesArchive: archive, checks: checks
                ).run()
            } catch is StoreExamination.Interrupted {
                throw CommandFailure(.failed, "interrupted; what was tried in the store is removed again")
            }
            output.write(
                json
                    ? try JSONOutput.text(DoctorReport(checks.findings)) + "\n" : "\n\(view.summary(checks.findings))\n"
            )
            if checks.status != .done { throw checks.status.code }
        }
    }
}
