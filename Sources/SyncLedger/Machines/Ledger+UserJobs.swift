import GRDB
package import SyncCore

extension Ledger {
    /// The last day of which this machine has asked for the jobs that one machine does for all.
    package func userJobsDay() throws(LedgerError) -> CalendarDay? {
        try read("look up the last daily jobs") { db in
            try String.fetchOne(db, sql: "SELECT jobs_day FROM agent").flatMap { CalendarDay($0) }
        }
    }

    package func noteUserJobs(on day: CalendarDay) throws(LedgerError) {
        try write("note the daily jobs") { db in
            try db.run("UPDATE agent SET jobs_day = ?", [day.description])
        }
    }
}
