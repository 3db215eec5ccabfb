import Glibc
import SystemPackage

/// How a program is started: posix_spawn(3) with nothing inherited but what is named here. Tests of the same process
/// hold sockets and pipes of their own and block signals, and none of that is the child's business.
struct Spawn {
    let program: FilePath
    let arguments: [String]
    let environment: [String: String]

    /// - Parameter input: `nil` for nothing.
    /// - Throws: `Errno`.
    func start(input: FileDescriptor? = nil, output: FileDescriptor, errors: FileDescriptor) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input.rawValue, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output.rawValue, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.rawValue, STDERR_FILENO)
        // In the child, and so also what another thread opens at this moment: a socket that a child keeps open is not
        // closed, whatever the test that made it does.
        guard let closeFrom = Self.closeFrom, closeFrom(&actions, STDERR_FILENO + 1) == 0 else {
            throw Errno(rawValue: ENOSYS)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var ordinary = sigset_t()
        sigemptyset(&ordinary)
        for signal in [SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGIO] { sigaddset(&ordinary, signal) }
        posix_spawnattr_setsigdefault(&attributes, &ordinary)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pid: pid_t = 0
        let error = Self.withStrings([program.string] + arguments) { argv in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { envp in
                posix_spawn(&pid, program.string, &actions, &attributes, argv, envp)
            }
        }
        guard error == 0 else { throw Errno(rawValue: error) }
        return pid
    }

    /// posix_spawn_file_actions_addclosefrom_np of glibc 2.34, which Swift's Glibc does not show.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast(
            $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)
    }

    /// A list of C strings that ends with NULL, as execve(2) wants it.
    private static func withStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let strings = texts.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        return body(strings + [nil])
    }
}
