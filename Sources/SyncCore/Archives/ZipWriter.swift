package import SystemPackage

/// One ZIP file that is written in one pass, its entries one after the other. Its calls block: the caller gives them a
/// thread, one at a time.
///
/// Promises:
/// - The file gets its name with ``finish()``, whole and durable. Until then, and after any failure, nothing has it.
/// - Nothing is overwritten.
/// - Memory: a few hundred bytes an entry, whatever its size.
///
/// A failure loses the archive, and every later call throws it again, unless ``ZipError/isAboutOneEntry`` says that only
/// the one entry is left out.
package protocol ZipWriter: Sendable {
    /// Begins an entry, of which exactly `entry.size` bytes have to follow.
    func begin(_ entry: ZipEntry) throws(ZipError)

    /// The next bytes of the entry that was begun, in order; on any thread. Fits the sink of ``ObjectStore``.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ZipError)

    /// Ends the entry that was begun.
    /// - Throws: `.wrongSize` when bytes are missing.
    func end() throws(ZipError)

    /// Adds a file of exactly `entry.size` bytes.
    func add(_ entry: ZipEntry, from file: FilePath) throws(ZipError)

    /// Closes the archive and gives it its name.
    /// - Throws: `.nameTaken` when something has got the name meanwhile.
    func finish() throws(ZipError)

    /// Gives the archive up: nothing of it stays. After ``finish()`` there is nothing to give up.
    func cancel()
}
