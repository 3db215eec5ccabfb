package import SystemPackage

extension FilePath {
    /// Whether names in this folder that differ in capitals alone are one name, as on exFAT, on most SMB shares and in
    /// folders of ext4 with casefold (`chattr +F`). Nothing tells that of all of them: an empty file with a hidden name
    /// is made, looked up by another one, and removed.
    /// - Throws: `Errno`.
    package func ignoresCapitals() throws(Errno) -> Bool {
        let name = ".sync-agent-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = appending(name)
        let probe = try FileDescriptor.opened(
            file, .writeOnly, [.create, .exclusiveCreate, .closeOnExec], .ownerReadWrite)
        defer {
            try? probe.close()
            _ = try? file.unlink()
        }
        return try FileStatus.find(appending(name.uppercased())) != nil
    }
}
