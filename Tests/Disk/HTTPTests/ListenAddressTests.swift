import SyncCore
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8420", "127.0.0.1:8420", true), ("127.1.2.3:1", "127.1.2.3:1", true),
        ("[::1]:8420", "[::1]:8420", true), ("localhost:0", "localhost:0", true),
        ("LOCALHOST:8420", "localhost:8420", true), ("0.0.0.0:8420", "0.0.0.0:8420", false),
        ("192.168.1.2:65535", "192.168.1.2:65535", false), ("[::]:80", "[::]:80", false),
        ("[FE80::1]:80", "[fe80::1]:80", false), ("[0:0:0:0:0:0:0:1]:80", "[0:0:0:0:0:0:0:1]:80", true),
        ("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", true),
        ("[::ffff:10.0.0.1]:80", "[::ffff:10.0.0.1]:80", false),
    ])
    func `an address is read, and known as this machine's own or not`(
        text: String, description: String, isLoopback: Bool
    ) throws {
        let address = try ListenAddress(text)
        #expect(address.description == description)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "8420", ":8420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
        "127.0.0.1:080000", "127.0.0:80", "127.0.0.256:80", "127.0.0.01:80", "1.2.3.4.5:80", "example.org:80",
        "::1:8420", "[127.0.0.1]:80", "[]:80", "[::1]", "[::1]80", "[1::2::3]:80", "[1:2:3:4:5:6:7]:80",
        "[1:2:3:4:5:6:7:8:9]:80", "[::12345]:80", "[::+1]:80", "[fe80::1%eth0]:80", "[localhost]:80",
        "http://127.0.0.1:80", "127.0.0.1:80 ", "１27.0.0.1:80",
    ])
    func `what is no address is refused, with what is accepted`(text: String) {
        let error = #expect(throws: ListenAddressError.self) { try ListenAddress(text) }
        #expect(error?.description.contains("[::1]:8420") == true)
    }

    @Test(arguments: [
        ("0.0.0.0:8420", "Box", "box.local:8420"), ("[::]:80", "box", "box.local:80"),
        ("0.0.0.0:1", "box.example.net", "box.example.net:1"), ("192.168.1.5:8420", "box", "192.168.1.5:8420"),
        ("[fd00::1]:8420", "box", "[fd00::1]:8420"),
    ])
    func `others reach it by its address, else by the machine's name`(listen: String, machine: String, told: String)
        throws
    {
        #expect(try ListenAddress(listen).reached(by: machine) == told)
    }
}
