import ArgumentParser

struct ArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "List and download the photos of gallery events that were archived.",
        discussion: """
            When an event is older than retention.event_days, its photo goes to gallery-archive/ in the store, and its \
            text is deleted (sync-agent cleanup). These commands need nothing but the store: they work on any machine \
            with the same configuration, beside a running agent.

            EXAMPLES
              sync-agent archive list --profile grandma --from 2025-01-01
              sync-agent archive list --html ~/Desktop/memories.html
              sync-agent archive download --output ~/Pictures/Memories
              sync-agent archive download --zip ~/Desktop/2024.zip --from 2024-01-01 --to 2024-12-31
            """,
        subcommands: [ArchiveListCommand.self, ArchiveDownloadCommand.self]
    )
}
