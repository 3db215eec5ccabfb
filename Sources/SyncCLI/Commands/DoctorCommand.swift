import ArgumentParser

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine and the store: what works, what is limited, what is wrong.",
        discussion: """
            Checks configuration, state, folders, space, inotify limits, credentials and clock, then tries what the \
            store can do with small objects below users/USER/doctor-… (where share.public_base_url is set, with two \
            below shares/, too), which it removes again. What it learns about the server is remembered. It changes \
            nothing else, and may run beside the agent.

              ok        it works
              limited   it works, with limits; -> says what is done instead
              WRONG     it does not work; -> says what to do

            At Amazon, storage classes and restores are tried only with --archive: objects in them are billed for up to \
            180 days, and an expedited restore costs $0.01.

            Exits with 0 when nothing is wrong, otherwise with 78 (configuration), 77 (credentials or permission), 69 \
            (store not reachable) or 1, the first of these that applies.

            EXAMPLES
              sync-agent doctor
              sync-agent doctor --json | jq '.checks[] | select(.state != "ok")'
            """
    )

    @Flag(help: "Try storage classes and restores at Amazon too, for about $0.02.")
    var archive = false

    @OptionGroup var options: AnswerOptions

    func run() async throws {
        try await Console.run(json: options.json) { console in
            let view = DoctorView(terminal: console.output)
            let checks = Checks { finding in
                if !console.isJSON { view.lines(finding).forEach(console.output.writeLine) }
            }
            do {
                try await Doctor(
                    global: options.global, environment: console.environment, triesArchive: archive, checks: checks
                ).run()
            } catch let end as DoctorStoreChecks.Interrupted {
                throw CommandFailure(
                    ExitStatus(endedBy: end.signal), "interrupted; what was tried in the store is removed again")
            }
            return Answer(DoctorReport(checks.findings), status: checks.status) { _ in
                ["", view.summary(checks.findings)]
            }
        }
    }
}
