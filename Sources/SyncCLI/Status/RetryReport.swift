/// `retry --json`: the fields are a contract (docs/design.md, section 7).
struct RetryReport: Report {
    var retried: Int
    /// Of them: those that had failed.
    var failed: Int
    /// Of them: those that waited for their next try.
    var waiting: Int
    var agentRunning: Bool

    func lines(on terminal: Terminal) -> [String] {
        guard retried > 0 else { return ["Nothing failed, and nothing waits for another try."] }
        let next = agentRunning ? "the agent tries them now" : "no agent is running: sync-agent sync tries them"
        return [
            "\(Quantities.counted(retried, "photo")) to try again (\(Quantities.count(failed)) had failed, "
                + "\(Quantities.count(waiting)) waited); \(next)"
        ]
    }
}

/// `forget --json`: likewise.
struct ForgetReport: Report {
    struct Item: Encodable {
        @Nullable var path: String?
        @Nullable var key: String?
    }

    var forgotten: [Item]
    /// What was named and is not lost.
    var kept: [String]

    var status: ExitStatus { kept.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        ["\(Quantities.counted(forgotten.count, "photo")) forgotten"]
    }
}
