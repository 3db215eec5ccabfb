import SyncCLI

@main
struct SyncAgent {
    static func main() async { await SyncAgentCommand.start() }
}
