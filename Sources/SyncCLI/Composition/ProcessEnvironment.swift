import FoundationEssentials
import Glibc
import SystemPackage

/// What the process was started with.
enum ProcessEnvironment {
    static var current: [String: String] { ProcessInfo.processInfo.environment }

    static var workingFolder: FilePath {
        guard let buffer = getcwd(nil, 0) else { return "/" }
        defer { free(buffer) }
        return FilePath(platformString: buffer)
    }

    /// The name that the user is known by on this machine; the answer of getpwuid(3), else `$USER`.
    static var userName: String? {
        if let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name { return String(cString: name) }
        return current["USER"]
    }

    static var processorCount: Int { max(ProcessInfo.processInfo.activeProcessorCount, 1) }
}
