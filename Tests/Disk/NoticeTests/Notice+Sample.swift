import FoundationEssentials
import SyncCore

extension Notice {
    /// Names as an attacker would choose them.
    static let hostile = Notice(
        .restoreReady, title: "--help $(touch pwned)",
        message: "`id`; 'a' \"b\" \\n <img src=\"http://evil\"> & $HOME\nsecond line",
        facts: ["jobId": "7", "path": "/a/$(rm -rf ~)/é"], at: Date(timeIntervalSince1970: 0))
}
