package import FoundationEssentials
import GRDB

extension Ledger {
    /// What the other machines were told last: a digest of it, and when; `nil` when they were told nothing yet.
    package func writtenMachineNote() throws(LedgerError) -> (digest: String, at: Date)? {
        try read("read what other machines were told") { db in
            let row = try db.rawRow("SELECT machine_note, machine_note_at FROM agent")
            guard let row, let digest = row[0] as String?, let time = row[1] as Int64? else { return nil }
            return (digest, Date(milliseconds: time))
        }
    }

    package func noteMachineNote(_ digest: String, at time: Date) throws(LedgerError) {
        try write("note what other machines were told") { db in
            try db.run("UPDATE agent SET machine_note = ?, machine_note_at = ?", [digest, time.milliseconds])
        }
    }
}
